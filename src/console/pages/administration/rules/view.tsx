import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import type { RulesReloaded } from '../../../../contract/resources/rule.ts';
import { href } from '../../../state/address.ts';
import { change } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { numberColumn, timeColumn } from '../../../ui/attribute-columns.tsx';
import { Button } from '../../../ui/button.tsx';
import { Facts } from '../../../ui/detail.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { number } from '../../../ui/format.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { Severity } from '../../../ui/values.tsx';
import { ListView } from '../parts/list-view.tsx';
import { newId, RuleDetail } from './detail.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { firstRule, logsourceText, origins, stateOf } from './rule-words.ts';

export default function Rules() {
  const [asked, setAsked] = useState<'new' | 'reload' | undefined>();
  const [reloaded, setReloaded] = useState<RulesReloaded | undefined>();
  return (
    <>
      <ListView
        operation="listRules"
        of="rules"
        sort="-hits"
        columns={columns}
        one={{ operation: 'getRule', parameter: 'rule_id' }}
        detail={(rule) => <RuleDetail key={rule.id} rule={rule} />}
        absent={(id) => <NoRule id={id} />}
        rowClass={({ attributes }) => (stateOf(attributes) === 'off' ? 'admin-off' : '')}
        empty={<Empty title="No rules">Alerts come only from behaviour detectors, intel lists and sensors.</Empty>}
        actions={
          <>
            {may('reloadRules') && <Button onClick={() => setAsked('reload')}>Reload</Button>}
            {may('createRule') && (
              <Button kind="primary" onClick={() => setAsked('new')}>
                New rule
              </Button>
            )}
          </>
        }
      />
      {asked === 'new' && <RuleDialog text={firstRule(newId())} onClose={() => setAsked(undefined)} />}
      {asked === 'reload' && (
        <ActionDialog
          title="Reload the rule folders?"
          action="Reload"
          logged={['detection.reloaded']}
          run={async () => setReloaded((await change('reloadRules', {}, ['listRules', 'getRule'])).data)}
          done="Rules reloaded."
          onClose={() => setAsked(undefined)}
        >
          <p>Changed files will take effect immediately. Custom rules created here are not affected.</p>
          <p class="quiet">If nothing changed, no entry will be recorded.</p>
        </ActionDialog>
      )}
      {reloaded !== undefined && <Reloaded result={reloaded} onClose={() => setReloaded(undefined)} />}
    </>
  );
}

/** Shown if no rule has the ID in the URL. Alerts from detectors, sensors and lists have other rule IDs. */
function NoRule({ id }: { id: string }) {
  return (
    <Empty title="Not a rule">
      {id.startsWith('behaviour.') ? (
        <p>
          <bdi class="mono">{id}</bdi> is a built-in behaviour detector. Disable it with the setting{' '}
          <a href={href('administration', { view: 'configuration', id: 'detection.detectors_off' })}>
            detection.detectors_off
          </a>
          .
        </p>
      ) : (
        <p>
          Alerts with the rule ID <bdi class="mono">{id}</bdi> come from a sensor or an intel list; there is no such
          rule here.
        </p>
      )}
    </Empty>
  );
}

function Reloaded({
  result: { version, added, removed, changed, broken },
  onClose,
}: {
  result: RulesReloaded;
  onClose: () => void;
}) {
  return (
    <Dialog title="Rules reloaded" onClose={onClose}>
      <Facts
        facts={[
          ['Version', number(version)],
          ['Added', number(added)],
          ['Removed', number(removed)],
          ['Changed', number(changed)],
        ]}
      />
      {broken.length > 0 && (
        <>
          <p class="admin-bad">Rules that cannot be loaded:</p>
          <ul class="admin-problems">
            {broken.map((one) => (
              <li key={one}>
                <bdi>{one}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
      <div class="row">
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

const states = { on: 'on', off: 'off', broken: '✕ invalid' } as const;

const columns: readonly Column<ListItem<'listRules'>>[] = [
  column('level', 'Level', { width: '86px', sort: 'level' }, ({ attributes: { level } }) => (
    <Severity level={level} short />
  )),
  column('title', 'Title', { width: 'minmax(140px, 1fr)', sort: 'title' }, ({ attributes: { title } }) => (
    <bdi title={title}>{title}</bdi>
  )),
  column('logsource', 'Log source', { width: 'minmax(90px, 150px)', from: 700 }, ({ attributes: { logsource } }) => (
    <bdi class="quiet">{logsourceText(logsource)}</bdi>
  )),
  column('status', 'Status', { width: '90px', from: 860 }, ({ attributes: { status } }) => status ?? ''),
  column('origin', 'Source', { width: '116px', from: 900 }, ({ attributes: { origin } }) => origins[origin]),
  numberColumn('hits', 'Hits', 'hits', { width: '72px', from: 480 }),
  timeColumn('changed', 'Changed', 'changed_at', { width: '80px', from: 760 }),
  column('state', 'State', { width: '70px' }, ({ attributes }) => {
    const state = stateOf(attributes);
    return <span class={state === 'broken' ? 'admin-bad' : ''}>{states[state]}</span>;
  }),
];
