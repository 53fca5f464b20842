import { useState } from 'preact/hooks';
import { change } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Detail, Facts, Section } from '../../../ui/split.tsx';
import { say } from '../../../ui/toasts.tsx';
import { closeDetail } from '../parts/opened.ts';
import { useSending } from '../parts/sending.ts';
import { SettingField } from './field.tsx';
import { draftOf, inputOf, inWords, rangeOf, readDraft, type Setting, shown } from './settings.ts';

const sources = {
  default: 'nobody: it is the default',
  file: 'the file of settings',
  environment: 'the environment, which wins over the file',
} as const;

/** One setting: what it is for, what is in effect, and another value for the next start. */
export function SettingDetail({ setting }: { setting: Setting }) {
  const { name, variable, description, schema, source, secret, read_only, active, pending } = setting;
  return (
    <Detail title={<span class="mono">{name}</span>} onClose={closeDetail}>
      <p>{description.charAt(0).toUpperCase() + description.slice(1)}.</p>
      <Section title="As it is">
        <Facts
          facts={[
            ['In effect', secret ? 'never shown' : <Shown key="a" name={name} value={active} />],
            [
              'Next start',
              pending === undefined ? (
                'the same'
              ) : (
                <span key="p" class="setting-pending">
                  <Shown name={name} value={pending} />
                </span>
              ),
            ],
            ['Default', <Shown key="d" name={name} value={schema.default} />],
            ['Set by', sources[source]],
            ['Takes', rangeOf(name, schema)],
            ['Variable', <code key="v">{variable}</code>],
          ]}
        />
      </Section>
      <Section title="For the next start">
        {read_only !== undefined ? (
          <p>It cannot be changed here: {read_only}.</p>
        ) : may('updateConfig') ? (
          <Edit setting={setting} />
        ) : (
          <p class="quiet">Your role may not change it.</p>
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
  // Null is what the next start finds absent, or at its default.
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
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const read = readDraft(input, draft);
        setFault('fault' in read ? read.fault : undefined);
        if ('value' in read) store(read.value, `${name} is stored for the next start.`);
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
        It is stored in the file of settings, written down in the audit, and takes effect when the service
        starts again.
      </p>
      {sending.elsewhere !== undefined && (
        <p class="field-error" role="alert">
          {sending.elsewhere}
        </p>
      )}
      <div class="row">
        <Button type="submit" kind="primary" busy={sending.busy} disabled={draft === draftOf(input, stored)}>
          Store
        </Button>
        {!isDefault && (
          <Button
            busy={sending.busy}
            title="Takes it out of the file: null, in the words of the interface"
            onClick={() => store(null, `${name} has its default from the next start on.`)}
          >
            Back to the default
          </Button>
        )}
        {pending !== undefined && active !== undefined && (
          <Button busy={sending.busy} onClick={() => store(active, `${name} stays as it is.`)}>
            Keep what is in effect
          </Button>
        )}
      </div>
    </form>
  );
}
