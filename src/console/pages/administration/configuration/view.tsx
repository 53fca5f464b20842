import { place, setParams } from '../../../state/address.ts';
import { useAnswer } from '../../../state/answers.ts';
import { Button, Choice } from '../../../ui/button.tsx';
import { Split } from '../../../ui/detail.tsx';
import { SearchField } from '../../../ui/form.tsx';
import { counted, number } from '../../../ui/format.ts';
import { Answered, Empty } from '../../../ui/states.tsx';
import { type Column, column, Table } from '../../../ui/table.tsx';
import { SettingDetail } from './detail.tsx';
import { inWords, matching, type Setting, settingsOf, shown } from './settings.ts';
import './configuration.css';

const choices = {
  all: { title: 'All', has: () => true },
  given: { title: 'Customised', has: ({ source }: Setting) => source !== 'default' },
  pending: { title: 'Pending', has: ({ pending }: Setting) => pending !== undefined },
  changeable: { title: 'Editable', has: ({ read_only }: Setting) => read_only === undefined },
} as const;
type Which = keyof typeof choices;
const isWhich = (text: string | null): text is Which => text !== null && Object.hasOwn(choices, text);

/** All settings with their effective value, pending value and source. */
export default function Configuration() {
  const config = useAnswer('getConfig', {}, { still: true });
  return (
    <Answered of={config} rows={12}>
      {({ data: { attributes } }) => (
        <Settings
          settings={settingsOf(attributes)}
          restart={attributes.restart_required}
          problem={attributes.problem}
          busy={config.isRefetching}
          onAgain={() => void config.refetch()}
        />
      )}
    </Answered>
  );
}

function Settings({
  settings,
  restart,
  problem,
  busy,
  onAgain,
}: {
  settings: readonly Setting[];
  restart: boolean;
  problem: string | undefined;
  busy: boolean;
  onAgain: () => void;
}) {
  const { params } = place.value;
  const asked = params.get('only');
  const which = isWhich(asked) ? asked : 'all';
  const text = params.get('q') ?? '';
  const rows = matching(settings, text).filter(choices[which].has);
  const openName = params.get('id') ?? undefined;
  const open = settings.find(({ name }) => name === openName);
  const countOf = (one: Which) => settings.filter(choices[one].has).length;
  return (
    <Split detail={open && <SettingDetail key={`${open.name} ${JSON.stringify(open.pending)}`} setting={open} />}>
      <div class="admin-tools">
        <div class="row">
          <SearchField label="Search settings" />
          <Choice
            label="Filter settings"
            options={(Object.keys(choices) as Which[]).map((value) => ({
              value,
              title: value === 'all' ? choices.all.title : `${choices[value].title} ${number(countOf(value))}`,
            }))}
            value={which}
            onChange={(next) => setParams({ only: next === 'all' ? undefined : next })}
          />
        </div>
        <div class="row">
          <p class="counted quiet" role="status">
            {counted(rows.length, 'setting')}
          </p>
          <Button kind="plain" onClick={onAgain} busy={busy}>
            Refresh
          </Button>
        </div>
      </div>
      {problem !== undefined && (
        <p class="setting-banner admin-bad" role="alert">
          The next start will fail: {problem}
        </p>
      )}
      {restart && problem === undefined && (
        <p class="setting-banner">Restart the service to apply the pending changes.</p>
      )}
      <Table
        label="Settings"
        list={{ rows, total: rows.length }}
        columns={columns}
        keyOf={({ name }) => name}
        open={openName}
        onOpen={({ name }, options) => setParams({ id: name }, options)}
        empty={
          <Empty title={which === 'pending' ? 'No pending changes' : 'No matching settings'}>
            {which === 'pending'
              ? 'The next restart will not change any settings.'
              : `${number(settings.length)} settings searched.`}
          </Empty>
        }
      />
    </Split>
  );
}

const columns: readonly Column<Setting>[] = [
  column('name', 'Setting', { width: 'minmax(150px, 1.6fr)' }, ({ name, description }) => (
    <span class="mono" title={description}>
      {name}
    </span>
  )),
  column('value', 'Effective', { width: 'minmax(100px, 1fr)' }, ({ name, active, secret }) => {
    const words = inWords(name, active);
    return secret ? (
      <span class="quiet">secret</span>
    ) : (
      <bdi class={active === undefined ? 'quiet' : ''} title={shown(active)}>
        {words ?? shown(active)}
      </bdi>
    );
  }),
  column(
    'pending',
    'After restart',
    { width: 'minmax(90px, 150px)', from: 640 },
    ({ name, pending }) =>
      pending !== undefined && <bdi class="setting-pending">→ {inWords(name, pending) ?? shown(pending)}</bdi>,
  ),
  column('default', 'Default', { width: 'minmax(80px, 150px)', from: 760 }, ({ name, schema }) => (
    <bdi class="quiet">{inWords(name, schema.default) ?? shown(schema.default)}</bdi>
  )),
  column('source', 'Source', { width: '92px', from: 480 }, ({ source }) => (
    <span class={source === 'default' ? 'quiet' : ''}>{source}</span>
  )),
  column('lock', 'Editing', { width: '72px', from: 560 }, ({ read_only }) => (
    <span class="quiet" title={read_only}>
      {read_only === undefined ? 'editable' : 'read-only'}
    </span>
  )),
];
