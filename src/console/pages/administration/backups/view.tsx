import { useEffect, useState } from 'preact/hooks';
import type { ListItem } from '../../../../client/client.ts';
import { href, setParams } from '../../../state/address.ts';
import { again, change, useAnswer } from '../../../state/answers.ts';
import { may } from '../../../state/session.ts';
import { ActionDialog } from '../../../ui/action-dialog.tsx';
import { Button } from '../../../ui/button.tsx';
import { Command } from '../../../ui/command.tsx';
import { Detail, Facts, Section } from '../../../ui/detail.tsx';
import { bytes, duration, number } from '../../../ui/format.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, column } from '../../../ui/table.tsx';
import { say, sayFailure } from '../../../ui/toasts.tsx';
import { Hash, Time } from '../../../ui/values.tsx';
import { ListView } from '../parts/list-view.tsx';
import { restoreCommand } from './restore-command.ts';
import './backups.css';

type BackupRow = ListItem<'listBackups'>;
const pollMs = 1500;

/** Backups of the whole service. */
export default function Backups() {
  const [asking, setAsking] = useState(false);
  const [begun, setBegun] = useState<string | undefined>();
  return (
    <>
      <Running begun={begun} />
      <ListView
        operation="listBackups"
        of="backups"
        sort="-created_at"
        columns={columns}
        one={{ operation: 'getBackup', parameter: 'backup_id' }}
        detail={(backup) => <BackupDetail key={backup.id} backup={backup} />}
        empty={
          <Empty title="No backups">
            A backup is a verified copy of the databases and public keys, taken while the service runs.
          </Empty>
        }
        actions={
          may('createBackup') && (
            <Button kind="primary" onClick={() => setAsking(true)}>
              Back up now
            </Button>
          )
        }
      />
      {asking && (
        <ActionDialog
          title="Create a backup?"
          action="Back up"
          logged={['backup.created']}
          run={async () => {
            const { data } = await change('createBackup', {}, ['listBackups']);
            setBegun(data.id);
            setParams({ id: data.id });
          }}
          done="Backup started."
          onClose={() => setAsking(false)}
        >
          <p>
            Copies events, alerts, assets, the log and its public keys to the backup folder, then verifies the copy. The
            service keeps running.
          </p>
          <p class="quiet">
            Private keys are left out unless <code>backup.recipient</code> is set; then they are encrypted. Passwords
            and tokens are included as hashes. A <code>config.json</code> in the data folder is copied unchanged.
          </p>
        </ActionDialog>
      )}
    </>
  );
}

/** Progress of the running backup, if any. */
function Running({ begun }: { begun: string | undefined }) {
  const [followed, setFollowed] = useState<string | undefined>();
  const running = useAnswer('listBackups', { query: { state: 'running', per_page: 1 } }, { still: true });
  const last = useAnswer('listBackups', { query: { state: 'completed', per_page: 1 } }, { still: true });
  const found = running.data?.data[0]?.id;
  useEffect(() => {
    if (begun !== undefined || found !== undefined) setFollowed(begun ?? found);
  }, [begun, found]);
  const answer = useAnswer(
    'getBackup',
    { params: { backup_id: followed ?? '' } },
    { enabled: followed !== undefined, refreshMs: pollMs, keepPrevious: false },
  );
  const backup = answer.data?.data.attributes;
  const state = backup?.state;
  useEffect(() => {
    if (state === undefined || state === 'running') return;
    setFollowed(undefined);
    if (state === 'completed') say('Backup completed and verified.');
    else sayFailure('Backup failed', backup?.error ?? 'no reason reported');
    void again(['listBackups']);
  }, [state]);
  if (followed === undefined || backup === undefined || state !== 'running') return null;
  const before = last.data?.data[0]?.attributes.size;
  return (
    <div class="backup-running" role="status">
      <progress
        aria-label="Backup"
        {...(before !== undefined && { max: Math.max(before, backup.size), value: backup.size })}
      />
      <span>
        Backup in progress: {bytes(backup.size)} so far
        {before !== undefined && `, previous backup ${bytes(before)}`}. Started <Time at={backup.created_at} />.
      </span>
    </div>
  );
}

function BackupDetail({ backup: { id, attributes } }: { backup: BackupRow }) {
  const { state, error, path, size, events, alerts, private_keys, sth, transparency } = attributes;
  const { created_at, finished_at } = attributes;
  return (
    <Detail title={`Backup, ${state}`}>
      {error !== undefined && (
        <p class="notice notice-warning">
          Backup failed: <bdi>{error}</bdi>
        </p>
      )}
      <Facts
        facts={[
          ['Size', bytes(size)],
          ['Events', events === undefined ? undefined : number(events)],
          ['Alerts', alerts === undefined ? undefined : number(alerts)],
          ['Private keys', private_keys && privateKeys[private_keys]],
          ['Started', <Time key="b" at={created_at} as="exact" />],
          ['Duration', finished_at && duration(Date.parse(finished_at) - Date.parse(created_at))],
          [
            'Path',
            path && (
              <bdi key="p" class="mono">
                {path}
              </bdi>
            ),
          ],
          [
            'ID',
            <span key="i" class="mono">
              {id}
            </span>,
          ],
        ]}
      />
      {sth !== undefined && (
        <Section title="Log">
          <Facts
            facts={[
              ['Tree size', number(sth.tree_size)],
              ['Root', <Hash key="r" value={sth.root_hash} what="Root hash" />],
              [
                'Signed by',
                <span key="s" class="mono">
                  {sth.signer_key_id}
                </span>,
              ],
            ]}
          />
        </Section>
      )}
      {state === 'completed' && (
        <Section title="In the public log">
          {transparency === undefined ? (
            <p class="quiet">Looking up the log entry…</p>
          ) : (
            <p>
              Log entry {number(transparency.leaf_index)} records the backup’s size and manifest:{' '}
              <a href={href('transparency', { view: 'proof', index: transparency.leaf_index })}>view proof</a>.
            </p>
          )}
        </Section>
      )}
      {path !== undefined && (
        <Section title="Restore">
          <p>Stop the service, then run this on its host with an empty data folder:</p>
          <Command text={restoreCommand(path)} />
          <p class="quiet">
            With <code>--replace</code>, an existing log is moved aside. The restore is recorded as a log entry that
            every auditor can see.
          </p>
        </Section>
      )}
    </Detail>
  );
}

const privateKeys = {
  none: 'Not included',
  encrypted: 'Encrypted in keys.age',
  included: 'Included: protect this backup like the data folder',
} as const;

const marks = { running: '…', completed: '✓', failed: '✕' } as const;

const columns: readonly Column<BackupRow>[] = [
  column('created', 'Started', { width: 'minmax(90px, 1fr)', sort: 'created_at' }, ({ attributes: { created_at } }) => (
    <Time at={created_at} />
  )),
  column('state', 'State', { width: '104px' }, ({ attributes: { state } }) => (
    <span class={state === 'failed' ? 'admin-bad' : state === 'completed' ? 'admin-good' : ''}>
      <span aria-hidden="true">{marks[state]}</span> {state}
    </span>
  )),
  column('size', 'Size', { width: '90px', end: true }, ({ attributes: { size } }) => bytes(size)),
  column('events', 'Events', { width: '96px', end: true, from: 560 }, ({ attributes: { events } }) =>
    events === undefined ? '' : number(events),
  ),
  column('head', 'Tree size', { width: '84px', end: true, from: 480 }, ({ attributes: { sth } }) =>
    sth === undefined ? '' : number(sth.tree_size),
  ),
  column(
    'path',
    'Path',
    { width: 'minmax(120px, 2fr)', from: 760 },
    ({ attributes: { path } }) =>
      path && (
        <bdi class="mono quiet" title={path}>
          {path}
        </bdi>
      ),
  ),
];
