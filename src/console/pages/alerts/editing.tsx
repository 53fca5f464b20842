import { useState } from 'preact/hooks';
import { priorities, type Severity as SeverityName, severities } from '../../../contract/vocabulary.ts';
import { may, me } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form, TextField } from '../../ui/form.tsx';
import { title } from '../../ui/format.ts';
import { Menu } from '../../ui/menu.tsx';
import { Severity, Value } from '../../ui/values.tsx';
import { changeAlert } from './change-alert.ts';
import type { AlertRow } from './question.ts';

/** Fields of an alert that can be edited in place. */

const isLogged = (severity: SeverityName): boolean => severities.indexOf(severity) >= severities.indexOf('high');

export function EditSeverity({ alert }: { alert: AlertRow }) {
  const [asking, setAsking] = useState<SeverityName>();
  const { severity } = alert.attributes;
  const choose = (next: SeverityName) => {
    if (next === severity) return;
    if (isLogged(next) && !isLogged(severity)) setAsking(next);
    else void changeAlert(alert, { severity: next });
  };
  if (!may('updateAlert')) return <Severity level={severity} />;
  return (
    <>
      <Menu
        class="alert-edit"
        label={`Severity: ${severity}. Change`}
        items={() => severities.toReversed().map((one) => ({ title: title(one), run: () => choose(one) }))}
      >
        <Severity level={severity} /> <span class="quiet">▾</span>
      </Menu>
      {asking !== undefined && (
        <Dialog title={`Raise the severity to ${asking}?`} onClose={() => setAsking(undefined)}>
          <p>Alerts of high and critical severity are recorded in the public log.</p>
          <div class="row">
            <Button
              kind="primary"
              onClick={() => {
                setAsking(undefined);
                void changeAlert(alert, { severity: asking });
              }}
            >
              Raise and record
            </Button>
            <Button onClick={() => setAsking(undefined)}>Keep {severity}</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

export function EditPriority({ alert }: { alert: AlertRow }) {
  const { priority } = alert.attributes;
  const shown = priority === undefined ? 'none' : title(priority);
  if (!may('updateAlert')) return <>{shown}</>;
  return (
    <Menu
      class="alert-edit"
      label={`Priority: ${shown}. Change`}
      items={() =>
        priorities.toReversed().map((one) => ({
          title: title(one),
          run: () => {
            if (one !== priority) void changeAlert(alert, { priority: one });
          },
        }))
      }
    >
      {shown} <span class="quiet">▾</span>
    </Menu>
  );
}

export function EditAssignee({ alert }: { alert: AlertRow }) {
  const [asking, setAsking] = useState(false);
  const { assignee } = alert.attributes;
  const assign = (to: string) => {
    if (to !== (assignee ?? '')) void changeAlert(alert, { assignee: to });
  };
  const shown = <bdi>{assignee ?? 'Unassigned'}</bdi>;
  if (!may('updateAlert')) return shown;
  return (
    <>
      <Menu
        class="alert-edit"
        label={`Assignee: ${assignee ?? 'unassigned'}. Change`}
        items={() => [
          { title: `Me (${me.value?.name ?? ''})`, run: () => assign(me.value?.name ?? '') },
          { title: 'Another user…', run: () => setAsking(true) },
          ...(assignee === undefined ? [] : [{ title: 'Unassign', run: () => assign('') }]),
        ]}
      >
        {shown} <span class="quiet">▾</span>
      </Menu>
      {asking && (
        <AskName
          onName={(name) => {
            setAsking(false);
            assign(name);
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function AskName({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  return (
    <Dialog title="Assign to" onClose={onClose}>
      <Form
        onSubmit={() => {
          if (name.trim() !== '') onName(name.trim());
        }}
      >
        <TextField
          label="Username"
          hint="The alert appears in this user’s Mine view."
          value={name}
          maxLength={200}
          autocomplete="off"
          onValue={setName}
        />
        <div class="row">
          <Button type="submit" kind="primary" disabled={name.trim() === ''}>
            Assign
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

export function EditTags({ alert }: { alert: AlertRow }) {
  const [adding, setAdding] = useState(false);
  const [tag, setTag] = useState('');
  const { tags } = alert.attributes;
  const mayEdit = may('updateAlert');
  return (
    <span class="row alert-tags">
      {tags.map((one) => (
        <span key={one} class="alert-tag">
          <Value value={one} list="listAlerts" field="tag" mono={false} />
          {mayEdit && (
            <button
              type="button"
              aria-label={`Remove tag ${one}`}
              onClick={() => void changeAlert(alert, { tags: tags.filter((other) => other !== one) })}
            >
              ✕
            </button>
          )}
        </span>
      ))}
      {mayEdit &&
        (adding ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              const next = tag.trim();
              if (next !== '' && !tags.includes(next)) void changeAlert(alert, { tags: [...tags, next] });
              setTag('');
              setAdding(false);
            }}
          >
            <input
              class="input alert-tag-input"
              aria-label="New tag"
              value={tag}
              maxLength={100}
              ref={(input) => input?.focus()}
              onInput={(event) => setTag(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Escape') return;
                event.stopPropagation();
                setAdding(false);
              }}
            />
          </form>
        ) : (
          <Button kind="plain" onClick={() => setAdding(true)}>
            Add tag
          </Button>
        ))}
    </span>
  );
}
