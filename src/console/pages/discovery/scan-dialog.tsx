import { useState } from 'preact/hooks';
import { limits } from '../../../limits.ts';
import { href } from '../../state/address.ts';
import { api, may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { duration, number } from '../../ui/format.ts';
import { Select } from '../../ui/select.tsx';
import { say } from '../../ui/toasts.tsx';
import {
  inputOf,
  type Plan,
  planOf,
  type Refusal,
  refusalOf,
  type ScanField,
  type ScanForm,
} from './plan.ts';
import type { ScanRow } from './scans.ts';

const engines = [
  { value: 'connect', title: 'connect: our own, by TCP connections' },
  { value: 'nmap', title: 'nmap: where it is installed and allowed' },
];

/** What is to be scanned, how much that is, and what it means for a network. */
export function ScanDialog({
  form: given,
  onStarted,
  onClose,
}: {
  form: ScanForm;
  onStarted: (scan: ScanRow) => void;
  onClose: () => void;
}) {
  const [form, setForm] = useState(given);
  const [refusal, setRefusal] = useState<Refusal>();
  const [busy, setBusy] = useState(false);
  const { plan, faults } = planOf(form);
  const isReady = plan !== undefined && Object.keys(faults).length === 0;
  const errorOf = (field: ScanField) =>
    faults[field] ?? (refusal?.field === field ? refusal.text : undefined);
  const set = (field: ScanField, value: string) => {
    setForm({ ...form, [field]: value });
    setRefusal(undefined);
  };
  const start = async () => {
    if (!isReady || busy) return;
    const input = inputOf(form);
    setBusy(true);
    setRefusal(undefined);
    try {
      const { data } = await api.call('startScan', { body: input });
      say('The scan is asked for.');
      onStarted(data);
    } catch (error) {
      setRefusal(refusalOf(error, input));
      setBusy(false);
    }
  };
  return (
    <Dialog wide title="Scan a network" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <p class="quiet">
          A scan connects to each port of each address and notes what answers. Those who watch that network
          will see it, and it is written into the audit trail that you asked for it.
        </p>
        <Field
          label="Targets"
          hint="Addresses and CIDR blocks, one a line or between commas."
          error={errorOf('targets')}
        >
          {(attributes) => (
            <textarea
              {...attributes}
              class="input mono scan-targets"
              autofocus
              rows={3}
              spellcheck={false}
              placeholder="10.0.0.0/24, 10.1.0.7, fd00::1"
              value={form.targets}
              onInput={(event) => set('targets', event.currentTarget.value)}
            />
          )}
        </Field>
        {refusal?.isOutside === true && <Allowed />}
        <Field
          label="Ports"
          hint="22,80,8000-8100, or top100: those that are open most often."
          error={errorOf('ports')}
        >
          {(attributes) => (
            <input
              {...attributes}
              class="input mono"
              spellcheck={false}
              autocomplete="off"
              maxLength={4096}
              value={form.ports}
              onInput={(event) => set('ports', event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="scan-two">
          <Field
            label="Probes a second at most"
            hint={`Up to ${number(limits.maxScanRate)}; 500 is no trouble for a network.`}
            error={errorOf('rate')}
          >
            {(attributes) => (
              <input
                {...attributes}
                inputMode="numeric"
                autocomplete="off"
                value={form.rate}
                onInput={(event) => set('rate', event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label="Engine" error={errorOf('engine')}>
            {(attributes) => (
              <Select
                {...attributes}
                options={engines}
                value={form.engine}
                onChange={(engine) => set('engine', engine)}
              />
            )}
          </Field>
        </div>
        <p class="scan-plan" role="status">
          {plan === undefined ? (
            <span class="quiet">Name what is to be scanned.</span>
          ) : (
            <Planned plan={plan} />
          )}
        </p>
        {refusal !== undefined && (
          <p class="field-error" role="alert">
            {refusal.field === undefined ? `Not begun: ${refusal.text}` : 'Not begun: see above.'}
          </p>
        )}
        <div class="row">
          <Button type="submit" kind="primary" busy={busy} disabled={!isReady}>
            Start the scan
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Planned({ plan }: { plan: Plan }) {
  const { hosts, ports, isExact, probes, leastMs, mostMs } = plan;
  return (
    <>
      <strong>
        {isExact ? '' : 'At most '}
        {number(probes)} {probes === 1 ? 'probe' : 'probes'}
      </strong>
      : {number(ports)} {ports === 1 ? 'port' : 'ports'} on{' '}
      {hosts === 1 ? 'one address' : `each of ${number(hosts)} addresses`}. At that rate{' '}
      {duration(Math.max(1000, leastMs))}
      {mostMs > 2 * leastMs && `, up to ${duration(mostMs)} where nothing answers`}.
    </>
  );
}

/** Which networks may be scanned, and who says so. */
function Allowed() {
  return (
    <p class="scan-allowed">
      Scans reach only networks that an administrator has named in the setting{' '}
      <code>discovery.allowed_networks</code>; in the beginning that is this machine alone (127.0.0.0/8 and
      ::1). A target must lie in one of them as a whole.{' '}
      {may('updateConfig') ? (
        <a href={href('administration', { view: 'configuration' })}>The settings</a>
      ) : (
        'Ask an administrator to add it.'
      )}
    </p>
  );
}
