import { useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href } from '../../../state/address.ts';
import { change, ifVersion } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { closeDetail, Detail, Facts, Section } from '../../../ui/detail.tsx';
import { number } from '../../../ui/format.ts';
import { Severity, Time, Value } from '../../../ui/values.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { copyOf, logsourceText, origins, stateOf } from './rule-words.ts';
import { Source } from './source.tsx';
import { Trial } from './trial.tsx';

type Asked = 'edit' | 'copy' | 'switch' | 'delete';

/** Detail of a rule: facts, source and a test on stored data. */
export function RuleDetail({ rule }: { rule: ListItem<'listRules'> }) {
  const [asked, setAsked] = useState<Asked | undefined>();
  const { attributes } = rule;
  const { title, enabled, errors, origin, missing_fields } = attributes;
  const isOurs = origin === 'api';
  return (
    <Detail
      title={<bdi>{title}</bdi>}
      actions={
        <>
          {may('updateRule') && <Button onClick={() => setAsked('switch')}>{enabled ? 'Disable' : 'Enable'}</Button>}
          {may('updateRule') && isOurs && <Button onClick={() => setAsked('edit')}>Edit</Button>}
          {may('createRule') && (
            <Button kind="plain" onClick={() => setAsked('copy')}>
              Duplicate
            </Button>
          )}
          {may('deleteRule') && isOurs && (
            <Button kind="danger" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          )}
        </>
      }
    >
      {errors.length > 0 && (
        <div class="notice notice-warning">
          <p>This rule cannot be loaded:</p>
          <ul class="admin-problems">
            {errors.map((error) => (
              <li key={error} class="admin-bad">
                <bdi>{error}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
      <RuleFacts rule={rule} />
      {missing_fields !== undefined && missing_fields.length > 0 && (
        <p class="quiet">
          Fields missing from all records that this rule applies to: <code>{missing_fields.join(', ')}</code>.
          Conditions on these fields never match.
        </p>
      )}
      <Section title="Source">
        <Source text={attributes.source} first={attributes.line ?? 1} />
        {!isOurs && (
          <p class="quiet">
            {origin === 'shipped' ? 'Built-in rule.' : 'Loaded from the rules folder.'} It can be disabled here, or
            duplicated and edited.
          </p>
        )}
      </Section>
      {may('testRule') && (
        <Section title="Test on stored data">
          <Trial key={rule.id} source={attributes.source} disabled={errors.length > 0} />
        </Section>
      )}
      {asked === 'edit' && <RuleDialog rule={rule} text={attributes.source} onClose={() => setAsked(undefined)} />}
      {asked === 'copy' && <RuleDialog text={copyOf(attributes.source, newId())} onClose={() => setAsked(undefined)} />}
      {asked === 'switch' && (
        <ActionDialog
          title={enabled ? 'Disable this rule?' : 'Enable this rule?'}
          action={enabled ? 'Disable' : 'Enable'}
          logged={['detection.reloaded']}
          run={() =>
            change(
              'updateRule',
              {
                params: { rule_id: rule.id },
                headers: ifVersion(attributes.version),
                body: { enabled: !enabled },
              },
              ['listRules', 'getRule'],
            )
          }
          done={enabled ? 'Rule disabled.' : 'Rule enabled.'}
          onClose={() => setAsked(undefined)}
        >
          <p>
            {enabled ? (
              <>
                <bdi>{title}</bdi> will no longer raise alerts. Existing alerts are kept.
              </>
            ) : (
              <>
                <bdi>{title}</bdi> will be applied to new events.
              </>
            )}
          </p>
        </ActionDialog>
      )}
      {asked === 'delete' && (
        <ActionDialog
          title="Delete this rule?"
          action="Delete"
          danger
          logged={['detection.reloaded']}
          run={async () => {
            await change('deleteRule', { params: { rule_id: rule.id }, headers: ifVersion(attributes.version) }, [
              'listRules',
            ]);
            closeDetail();
          }}
          done="Rule deleted."
          onClose={() => setAsked(undefined)}
        >
          <p>
            Deletes <bdi>{title}</bdi> and its source. Existing alerts are kept.
          </p>
        </ActionDialog>
      )}
    </Detail>
  );
}

/** Returns a random UUID of version 4. `crypto.randomUUID` exists only over HTTPS and on localhost. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function RuleFacts({ rule: { id, attributes } }: { rule: ListItem<'listRules'> }) {
  const { level, status, kind, logsource, origin, file, line, hits, cost, tags, changed_at } = attributes;
  const state = stateOf(attributes);
  return (
    <Facts
      facts={[
        ['Level', <Severity key="l" level={level} />],
        ['State', state === 'broken' ? 'invalid' : state],
        ['Status', status],
        ['Kind', kind],
        ['Log source', <bdi key="s">{logsourceText(logsource)}</bdi>],
        [
          'Hits',
          <span key="h" class="admin-links">
            {number(hits)} since loading, <a href={href('alerts', { range: 'all', rule_id: id })}>alerts</a>
          </span>,
        ],
        ['Cost', cost && `${number(cost)} ns per record, worst case`],
        ['Source', origins[origin]],
        ['File', file && <bdi key="f">{`${file}${line === undefined ? '' : `, line ${line}`}`}</bdi>],
        ['Changed', <Time key="c" at={changed_at} />],
        [
          'Tags',
          tags.length === 0 ? undefined : (
            <span key="t" class="row">
              {tags.map((tag) => (
                <Value key={tag} value={tag} list="listRules" field="tag" />
              ))}
            </span>
          ),
        ],
        ['ID', <Value key="i" value={id} />],
      ]}
    />
  );
}
