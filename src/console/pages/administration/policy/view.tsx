import { useState } from 'preact/hooks';
import type { Policy } from '../../../../contract/resources/policy.ts';
import { place } from '../../../state/address.ts';
import { change, ifVersion, useAnswer } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { Button, Choice } from '../../../ui/button.tsx';
import { SearchField } from '../../../ui/form.tsx';
import { counted, number } from '../../../ui/format.ts';
import { Answered } from '../../../ui/states.tsx';
import { Time } from '../../../ui/values.tsx';
import { differences, type Rules, readRules, rebased, textOf } from './draft.ts';
import { Matrix } from './matrix.tsx';

/** The edited text, and the version of the policy that the edit started from. */
interface Draft {
  readonly text: string;
  readonly base: Policy;
}

export default function PolicyView() {
  const policy = useAnswer('getPolicy', {}, { still: true });
  return (
    <Answered of={policy} rows={12}>
      {({ data: { attributes } }) => <Shown policy={attributes} />}
    </Answered>
  );
}

function Shown({ policy }: { policy: Policy }) {
  /** The edit in progress; undefined while not editing. */
  const [draft, setDraft] = useState<Draft | undefined>();
  const [form, setForm] = useState<'table' | 'data'>('table');
  const [asked, setAsked] = useState<'save' | 'reload' | undefined>();
  const search = place.value.params.get('q') ?? '';
  const { base, text } = draft ?? { base: policy };
  const read = text === undefined ? { rules: [...policy.rules] } : readRules(text);
  const rules: Rules | undefined = 'rules' in read ? read.rules : undefined;
  const diff = rules === undefined ? [] : differences(base.rules, rules);
  const isEditing = text !== undefined;
  const edit = (next: string) => setDraft({ text: next, base });
  return (
    <>
      <div class="admin-tools">
        <div class="row">
          <SearchField label="Search operations" />
          {isEditing && (
            <Choice
              label="Editor"
              options={[
                { value: 'table', title: 'Table' },
                { value: 'data', title: 'JSON' },
              ]}
              value={form}
              onChange={setForm}
            />
          )}
          <span class="quiet">
            Version {policy.version}, in effect since <Time at={policy.loaded_at} />
          </span>
        </div>
        <div class="row">
          {isEditing ? (
            <>
              <span class="quiet" role="status">
                {counted(diff.length, 'change')}
              </span>
              <Button
                kind="primary"
                disabled={diff.length === 0 || rules === undefined}
                onClick={() => setAsked('save')}
              >
                Review and save
              </Button>
              <Button onClick={() => setDraft(undefined)}>Discard</Button>
            </>
          ) : (
            <>
              {may('reloadPolicy') && <Button onClick={() => setAsked('reload')}>Reload from file</Button>}
              {may('updatePolicy') && (
                <Button onClick={() => setDraft({ text: textOf(policy.rules), base: policy })}>Edit</Button>
              )}
            </>
          )}
        </div>
      </div>
      {policy.file_refused !== undefined && (
        <p class="admin-tools admin-bad" role="alert">
          The policy file is not in effect: {policy.file_refused}
        </p>
      )}
      {base.version !== policy.version && asked === undefined && (
        <ConflictNotice
          base={base}
          policy={policy}
          onRebase={rules && (() => setDraft({ text: textOf(rebased(base.rules, rules, policy.rules)), base: policy }))}
        />
      )}
      {'fault' in read && (
        <p class="admin-tools admin-bad" role="alert" id="policy-fault">
          {read.fault}
        </p>
      )}
      {isEditing && (form === 'data' || rules === undefined) ? (
        <textarea
          class="input policy-text"
          aria-label="Policy rules (JSON)"
          aria-invalid={'fault' in read}
          aria-describedby="policy-fault"
          spellcheck={false}
          wrap="off"
          value={text}
          onInput={(event) => edit(event.currentTarget.value)}
        />
      ) : (
        <div class={isEditing ? 'matrix-place' : 'matrix-place matrix-read'}>
          <Matrix
            rules={rules ?? []}
            before={base.rules}
            search={search}
            onRules={isEditing ? (next) => edit(textOf(next)) : undefined}
          />
        </div>
      )}
      {asked === 'save' && rules !== undefined && (
        <Save policy={base} rules={rules} onSaved={() => setDraft(undefined)} onClose={() => setAsked(undefined)} />
      )}
      {asked === 'reload' && (
        <ActionDialog
          title="Reload the policy file?"
          action="Reload"
          logged={['policy.reloaded']}
          run={() => change('reloadPolicy', {}, ['getPolicy', 'whoAmI'])}
          done="Policy file loaded."
          onClose={() => setAsked(undefined)}
        >
          <p>The rules in the file will take effect immediately, for all users.</p>
          <p class="quiet">If nothing changed, no entry will be recorded.</p>
        </ActionDialog>
      )}
    </>
  );
}

/** Maximum number of operations named in the notice about a concurrent change. */
const maxNamed = 5;

/** Notice that the policy was changed during the edit, with a button to reapply the edit. */
function ConflictNotice({
  base,
  policy,
  onRebase,
}: {
  base: Policy;
  policy: Policy;
  /** Applies the edit to the new version; undefined while the edited text is invalid. */
  onRebase: (() => void) | undefined;
}) {
  const names = differences(base.rules, policy.rules).map(({ operation }) => operation);
  return (
    <div class="admin-tools admin-bad" role="alert">
      <p>
        Someone else changed the policy while you were editing version {base.version}
        {names.length > 0 && (
          <>
            : <code>{names.slice(0, maxNamed).join(', ')}</code>
            {names.length > maxNamed && ` and ${number(names.length - maxNamed)} more`}
          </>
        )}
        . Your edits are kept, but must be reapplied to the new version before you can save.
      </p>
      <Button disabled={onRebase === undefined} onClick={() => onRebase?.()}>
        Reapply my changes
      </Button>
    </div>
  );
}

/** Confirmation dialog with the changes. */
function Save({
  policy,
  rules,
  onSaved,
  onClose,
}: {
  policy: Policy;
  rules: Rules;
  onSaved: () => void;
  onClose: () => void;
}) {
  const diff = differences(policy.rules, rules);
  return (
    <ActionDialog
      title="Save policy changes?"
      action="Save policy"
      danger
      wide
      logged={['policy.rule_edited']}
      run={() =>
        change('updatePolicy', { headers: ifVersion(policy.version), body: { rules: [...rules] } }, [
          'getPolicy',
          'whoAmI',
        ])
      }
      done="Policy saved."
      onDone={() => {
        onClose();
        onSaved();
      }}
      onClose={onClose}
    >
      <p>These changes will take effect immediately, including in open sessions:</p>
      <ul class="policy-diff" tabIndex={0} aria-label="Changes">
        {diff.map(({ operation, before, after }) => (
          <li key={operation}>
            <code>{operation}</code>
            <span class="policy-before">{before ?? 'no rule'}</span>
            <span class="policy-after">{after ?? 'no rule'}</span>
          </li>
        ))}
      </ul>
    </ActionDialog>
  );
}
