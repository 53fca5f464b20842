import { useState } from 'preact/hooks';
import { useAnswer } from '../../state/answers.ts';
import { may } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { HistoryList, Section } from '../../ui/detail.tsx';
import { Form, FormButtons } from '../../ui/form.tsx';
import { number } from '../../ui/format.ts';
import { Answered } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { changeAlert } from './change-alert.ts';
import { type HistoryEntry, lineOf } from './history-text.ts';
import { NoteField } from './note-field.tsx';
import type { AlertRow } from './question.ts';

const maxShown = 100;

/** The latest changes of the alert, each with its actor, latest first. */
export function Timeline({ alert }: { alert: AlertRow }) {
  const answer = useAnswer(
    'listAlertHistory',
    { params: { alert_id: alert.id }, query: { per_page: maxShown } },
    { keepPrevious: false },
  );
  return (
    <Section title="History">
      <Answered of={answer} rows={3}>
        {({ data, pagination }) => (
          <HistoryList entries={data} total={pagination.total} happened={(entry) => <Happened entry={entry} />} />
        )}
      </Answered>
    </Section>
  );
}

function Happened({ entry }: { entry: HistoryEntry }) {
  const { what, from, to } = lineOf(entry);
  const { id, name } = entry.actor;
  return (
    <span>
      <bdi>{id === 'system' ? 'Candor' : (name ?? id)}</bdi> {what}
      {from !== undefined && (
        <>
          {' '}
          <bdi class="quiet">{from}</bdi> →
        </>
      )}
      {to !== undefined && (
        <>
          {from === undefined ? ': ' : ' '}
          <bdi>{to}</bdi>
        </>
      )}
      {entry.reason !== undefined && <bdi class="alert-quote">{entry.reason}</bdi>}
    </span>
  );
}

/** The notes, and a form to add one. */
export function Notes({ alert }: { alert: AlertRow }) {
  const [writing, setWriting] = useState(false);
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState(false);
  const { note_count } = alert.attributes;
  const answer = useAnswer(
    'listAlertNotes',
    { params: { alert_id: alert.id }, query: { per_page: maxShown, sort: 'created_at' } },
    { enabled: note_count > 0, keepPrevious: false },
  );
  const send = async () => {
    if (note.trim() === '' || busy) return;
    setBusy(true);
    if (await changeAlert(alert, { note: note.trim() })) {
      setNote('');
      setWriting(false);
    }
    setBusy(false);
  };
  return (
    <Section title={note_count === 0 ? 'Notes' : `Notes · ${number(note_count)}`}>
      {note_count > 0 && (
        <Answered of={answer} rows={2}>
          {({ data }) => (
            <ol class="alert-notes">
              {data.map(({ id, attributes }) => (
                <li key={id}>
                  <p class="quiet">
                    <bdi>{attributes.author}</bdi> · <Time at={attributes.created_at} />
                  </p>
                  <p class="alert-note-text">
                    <bdi>{attributes.text}</bdi>
                  </p>
                </li>
              ))}
            </ol>
          )}
        </Answered>
      )}
      {note_count === 0 && !writing && <p class="quiet">No notes.</p>}
      {may('updateAlert') &&
        (writing ? (
          <Form onSubmit={() => void send()}>
            <NoteField value={note} onValue={setNote} onSend={() => void send()} />
            <FormButtons
              action="Add note"
              hint="ctrl enter"
              busy={busy}
              disabled={note.trim() === ''}
              onCancel={() => setWriting(false)}
            />
          </Form>
        ) : (
          <div>
            <Button onClick={() => setWriting(true)}>Add note</Button>
          </div>
        ))}
    </Section>
  );
}
