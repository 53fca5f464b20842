import { useState } from 'preact/hooks';
import { limits } from '../../../limits.ts';
import { href } from '../../state/address.ts';
import { api, may } from '../../state/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, FormButtons, FormError, SelectField, TextArea, TextField } from '../../ui/form.tsx';
import { counted, duration, number } from '../../ui/format.ts';
import { say } from '../../ui/toasts.tsx';
import {
  inputOf,
  type Plan,
  planOf,
  type Refusal,
  refusalOf,
  type ScanField,
  type ScanForm,
  targetsOf,
} from './plan.ts';
import type { ScanRow } from './scans.ts';

const engines = [
  { value: 'connect', title: 'Built-in (TCP connect)' },
  { value: 'nmap', title: 'Nmap (if installed and enabled)' },
];

/** Dialog to start a scan, with a preview of its size and duration. */
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
  const errorOf = (field: ScanField) => faults[field] ?? (refusal?.field === field ? refusal.text : undefined);
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
      say('Scan requested.');
      onStarted(data);
    } catch (error) {
      setRefusal(refusalOf(error, input));
      setBusy(false);
    }
  };
  return (
    <Dialog wide title="Scan a network" onClose={onClose}>
      <Form onSubmit={() => void start()}>
        <p class="quiet">
          A scan connects to each port of each address and records what answers. It is visible to network monitoring,
          and recorded in the audit trail with your name.
        </p>
        <TextArea
          label="Targets"
          hint="Addresses and CIDR blocks, one per line or separated by commas."
          error={errorOf('targets')}
          class="input mono scan-targets"
          autofocus
          rows={3}
          spellcheck={false}
          placeholder="10.0.0.0/24, 10.1.0.7, fd00::1"
          value={form.targets}
          onValue={(value) => set('targets', value)}
        />
        {refusal?.isOutside === true && <Allowed />}
        <TextField
          label="Ports"
          hint="22,80,8000-8100, or top100 for the 100 most common ports."
          error={errorOf('ports')}
          class="input mono"
          spellcheck={false}
          autocomplete="off"
          maxLength={4096}
          value={form.ports}
          onValue={(value) => set('ports', value)}
        />
        <div class="field-columns">
          <TextField
            label="Maximum probes per second"
            hint={`Up to ${number(limits.maxScanRate)}; 500 is safe for most networks.`}
            error={errorOf('rate')}
            inputMode="numeric"
            autocomplete="off"
            value={form.rate}
            onValue={(value) => set('rate', value)}
          />
          <SelectField
            label="Engine"
            error={errorOf('engine')}
            options={engines}
            value={form.engine}
            onValue={(engine) => set('engine', engine)}
          />
        </div>
        <p class="scan-plan" role="status">
          {plan !== undefined ? (
            <Planned plan={plan} />
          ) : (
            <span class="quiet">
              {targetsOf(form.targets).length === 0 ? 'Enter at least one target.' : 'Correct the marked fields.'}
            </span>
          )}
        </p>
        {refusal !== undefined && (
          <FormError>
            {refusal.field === undefined ? `Not started: ${refusal.text}` : 'Not started: see above.'}
          </FormError>
        )}
        <FormButtons action="Start scan" busy={busy} disabled={!isReady} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

function Planned({ plan }: { plan: Plan }) {
  const { hosts, ports, probes, leastMs, mostMs } = plan;
  return (
    <>
      <strong>{counted(probes, 'probe')}</strong>: {counted(ports, 'port')} on{' '}
      {hosts === 1 ? 'one address' : `each of ${number(hosts)} addresses`}. Takes about{' '}
      {duration(Math.max(1000, leastMs))}
      {mostMs > 2 * leastMs && `, up to ${duration(mostMs)} if nothing answers`}.
    </>
  );
}

/** Explains the setting that limits the networks to scan. */
function Allowed() {
  return (
    <p class="scan-allowed">
      Scans are limited to the networks in the setting <code>discovery.allowed_networks</code>, by default this machine
      only (127.0.0.0/8 and ::1). A target must lie entirely within one of them.{' '}
      {may('updateConfig') ? (
        <a href={href('administration', { view: 'configuration' })}>Open settings</a>
      ) : (
        'Ask an administrator to add the network.'
      )}
    </p>
  );
}
