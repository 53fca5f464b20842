import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { setParams } from '../../../state/address.ts';
import { change, ifVersion } from '../../../state/answers.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { Editor } from './editor.tsx';
import { Trial } from './trial.tsx';
import { useValidation } from './validation.ts';

/** Dialog to write a rule. The rule is validated while typing and can be tested on stored data before it is saved. */
export function RuleDialog({
  rule,
  text,
  onClose,
}: {
  /** The rule to edit; absent for a new rule. */
  rule?: ListItem<'listRules'>;
  /** Initial text. */
  text: string;
  onClose: () => void;
}) {
  const [source, setSource] = useState(text);
  const [enabled, setEnabled] = useState(true);
  const validation = useValidation(source);
  const unchanged = rule !== undefined && source === rule.attributes.source;
  const save = async () => {
    const { data } =
      rule === undefined
        ? await change('createRule', { body: { source, enabled } }, ['listRules'])
        : await change(
            'updateRule',
            {
              params: { rule_id: rule.id },
              headers: ifVersion(rule.attributes.version),
              body: { source },
            },
            ['listRules', 'getRule'],
          );
    setParams({ id: data.id });
  };
  return (
    <ActionDialog
      title={rule === undefined ? 'New rule' : 'Edit rule'}
      action={rule === undefined ? 'Create rule' : 'Save rule'}
      wide
      disabled={validation.kind !== 'good' || unchanged}
      logged={['detection.reloaded']}
      run={save}
      done={rule === undefined ? 'Rule created.' : 'Rule updated.'}
      onClose={onClose}
    >
      <p class="quiet">One Sigma rule (YAML).</p>
      <Editor value={source} onValue={setSource} validation={validation} />
      <Trial source={source} disabled={validation.kind !== 'good'} />
      {rule === undefined && (
        <label class="row">
          <input type="checkbox" checked={enabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
          Enable now
        </label>
      )}
    </ActionDialog>
  );
}
