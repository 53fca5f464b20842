import { useState } from 'preact/hooks';
import { change } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Detail, Facts, Section } from '../../../ui/detail.tsx';
import { Form, FormError } from '../../../ui/form.tsx';
import { useSending } from '../../../ui/sending.ts';
import { say } from '../../../ui/toasts.tsx';
import { SettingField } from './field.tsx';
import { draftOf, inputOf, inWords, rangeOf, readDraft, type Setting, shown } from './settings.ts';

const sources = {
  default: 'default',
  file: 'configuration file',
  environment: 'environment variable (overrides the file)',
} as const;

/** Detail of a setting: description, effective value, and a form for the value after the next restart. */
export function SettingDetail({ setting }: { setting: Setting }) {
  const { name, variable, description, schema, source, secret, read_only, active, pending } = setting;
  return (
    <Detail title={<span class="mono">{name}</span>}>
      <p>{description.charAt(0).toUpperCase() + description.slice(1)}.</p>
      <Section title="Value">
        <Facts
          facts={[
            ['Effective', secret ? 'hidden' : <Shown key="a" name={name} value={active} />],
            [
              'After restart',
              pending === undefined ? (
                'unchanged'
              ) : (
                <span key="p" class="setting-pending">
                  <Shown name={name} value={pending} />
                </span>
              ),
            ],
            ['Default', <Shown key="d" name={name} value={schema.default} />],
            ['Source', sources[source]],
            ['Allowed', rangeOf(name, schema)],
            ['Environment variable', <code key="v">{variable}</code>],
          ]}
        />
      </Section>
      <Section title="Change">
        {read_only !== undefined ? (
          <p>Cannot be changed here: {read_only}.</p>
        ) : may('updateConfig') ? (
          <Edit setting={setting} />
        ) : (
          <p class="quiet">Your role cannot change settings.</p>
        )}
      </Section>
    </Detail>
  );
}

function Shown({ name, value }: { name: string; value: unknown }) {
  const words = inWords(name, value);
  return (
    <>
      <bdi class="mono">{shown(value)}</bdi>
      {words !== undefined && <span class="quiet"> {words}</span>}
    </>
  );
}

function Edit({ setting }: { setting: Setting }) {
  const { name, schema, active, pending, source } = setting;
  const input = inputOf(schema);
  // A pending null means that the setting has its default, or no value, after the restart.
  const stored = pending === undefined ? active : (pending ?? schema.default);
  const [draft, setDraft] = useState(() => draftOf(input, stored));
  const [fault, setFault] = useState<string | undefined>();
  const field = `settings.${name}`;
  const sending = useSending([field]);
  const store = (value: unknown, done: string) =>
    sending.send(async () => {
      await change('updateConfig', { body: { settings: { [name]: value } } }, ['getConfig', 'getStatus']);
      say(done);
    });
  const isDefault = source === 'default' && pending === undefined;
  return (
    <Form
      noValidate
      onSubmit={() => {
        const read = readDraft(input, draft);
        setFault('fault' in read ? read.fault : undefined);
        if ('value' in read) store(read.value, `${name} saved. It takes effect after a restart.`);
      }}
    >
      <SettingField
        name={name}
        schema={schema}
        input={input}
        draft={draft}
        error={fault ?? sending.at(field)}
        onDraft={(next) => {
          setDraft(next);
          setFault(undefined);
        }}
      />
      <p class="quiet">
        Saved to the configuration file and recorded in the audit trail. Takes effect when the service restarts.
      </p>
      <FormError>{sending.elsewhere}</FormError>
      <div class="row">
        <Button type="submit" kind="primary" busy={sending.busy} disabled={draft === draftOf(input, stored)}>
          Save
        </Button>
        {!isDefault && (
          <Button
            busy={sending.busy}
            title="Removes the setting from the configuration file (null in the API)"
            onClick={() => store(null, `${name} will use its default after a restart.`)}
          >
            Reset to default
          </Button>
        )}
        {pending !== undefined && active !== undefined && (
          <Button busy={sending.busy} onClick={() => store(active, `${name} keeps its effective value.`)}>
            Discard pending change
          </Button>
        )}
      </div>
    </Form>
  );
}
