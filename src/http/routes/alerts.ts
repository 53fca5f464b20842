import type { ExportPlace } from '../../analytics/alert-export.ts';
import { alertFilterQuery } from '../../contract/alert-parameters.ts';
import { listFilterOf, parseListFilter } from '../../contract/query.ts';
import type { AlertBulkInput } from '../../contract/resources/alert-bulk.ts';
import type { alertsRoutes } from '../../contract/routes/alerts.ts';
import { maxEntryIds, severities } from '../../contract/vocabulary.ts';
import { invalidField } from '../../errors.ts';
import { withAssets } from '../../events/alert-assets.ts';
import { limits } from '../../limits.ts';
import type { AlertChange, AlertChanged } from '../../store/store.ts';
import { changeEach } from '../bulk-change.ts';
import type { Context, Handlers } from '../context.ts';
import { exportReply } from '../export-list.ts';
import { requireWhole } from '../export-pages.ts';
import { alertHistogram } from '../histograms.ts';
import { listOfOwner, pooledList } from '../list-reply.ts';
import { found, requireLog } from '../preconditions.ts';
import { created, data, type Reply, resource } from '../reply.ts';
import { type QueryContext, queriesOf } from '../run-options.ts';
import type { Services } from '../services.ts';

export const alertsHandlers = {
  listAlerts: (context) => pooledList(context, 'listAlerts'),

  getAlertHistogram: (context) => alertHistogram(context),

  async bulkUpdateAlerts(context) {
    const { services, body, identity, audited } = context;
    requireAssignee(body.change, services);
    const endTurn = services.bulkChanges.take();
    try {
      const logged = entriesOfEach(body.change);
      if (logged > 0) await requireLog(services);
      const ids = await alertsOf(body, mostOf(logged), context);
      const answer = await changeEach(services, ids, body.change, identity.principal);
      if (logged > 0) audited?.noteEntries();
      return data(answer);
    } finally {
      endTurn();
    }
  },

  exportAlerts(context) {
    const { format = 'ndjson', ...which } = context.query;
    const asked = { filter: listFilterOf(which), format, version: context.services.version };
    const name = `alerts-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}${endings[format]}`;
    return exportReply<ExportPlace>(
      context,
      'lines',
      async (place) => {
        const part = place === undefined ? asked : { ...asked, place };
        const { lines: bytes, ...rest } = requireWhole(await queriesOf(context).run('exportAlerts', part));
        return { bytes, ...rest };
      },
      [['Content-Disposition', `attachment; filename="${name}"`]],
    );
  },

  async groupAlerts(context) {
    const { services, query } = context;
    const { by, limit = limits.defaultPerPage, ...which } = query;
    const groups = await queriesOf(context).run('groupAlerts', { by, limit, filter: listFilterOf(which) });
    if (!groups.complete) services.metrics.limitReached('maxAlertGroups');
    return data(groups);
  },

  getAlert: ({ services, params }) => resource('alert', params.alert_id, readAlert(params.alert_id, services)),

  async updateAlert(context) {
    const { services, params, body, identity, audited } = context;
    requireAssignee(body, services);
    const toBeLogged = mustBeLogged(body, params.alert_id, services);
    if (toBeLogged) await requireLog(services);
    const update = await services.store.changeAlert(params.alert_id, body, identity.principal, context.version);
    if (toBeLogged) audited?.noteEntries();
    return changedAlert(update, services);
  },

  listAlertHistory: (context) => listOfAlert(context, 'listAlertHistory'),

  listAlertNotes: (context) => listOfAlert(context, 'listNotes'),

  async addAlertNote({ services, params, body, identity }) {
    const { id, ...attributes } = await services.store.addNote(params.alert_id, body.text, identity.principal);
    return created('alert_note', id, attributes, `/api/v1/alerts/${params.alert_id}/notes`);
  },
} satisfies Handlers<typeof alertsRoutes>;

/** Returns the number of transparency log entries that the change may cause for each alert. */
const entriesOfEach = ({ ai_override, severity }: AlertChange): number =>
  Number(ai_override !== undefined) + Number(isHigh(severity));

const isHigh = (level: AlertChange['severity']): boolean =>
  level !== undefined && severities.indexOf(level) >= severities.indexOf('high');

/**
 * Returns the maximum number of alerts in a bulk change that causes `logged` log entries per alert. The audit
 * record of the call lists all log entries, so its capacity limits the alerts.
 */
const mostOf = (logged: number): number => (logged === 0 ? limits.maxBulkAlerts : Math.floor(maxEntryIds / logged));

/** Returns the distinct ids of the alerts to change. Throws INVALID_REQUEST for more than `most` alerts. */
async function alertsOf(
  { ids, filter }: AlertBulkInput,
  most: number,
  context: QueryContext,
): Promise<readonly string[]> {
  if (ids !== undefined && filter !== undefined) throw invalidField('filter', 'cannot be combined with ids');
  if (ids !== undefined) {
    const distinct = [...new Set(ids.map((id) => id.toLowerCase()))];
    if (distinct.length > most) throw invalidField('ids', tooMany('names', distinct.length, most));
    return distinct;
  }
  if (filter === undefined) throw invalidField('ids', 'is required unless filter is given');
  const query = { filter: parseListFilter(alertFilterQuery, filter), limit: most };
  const { ids: matching, total } = await queriesOf(context).run('matchAlerts', query);
  if (total > most) {
    context.services.metrics.limitReached('maxBulkAlerts');
    throw invalidField('filter', tooMany('matches', total, most));
  }
  return matching;
}

const tooMany = (verb: string, count: number, most: number): string =>
  `${verb} ${count} alerts; at most ${most} can be changed in this way in one request`;

const endings = { ndjson: '.ndjson', ocsf: '.ocsf.ndjson' } as const;

/**
 * Returns whether the change must be logged: if it overrides the verdict of the AI, or raises the severity to
 * high or above.
 */
function mustBeLogged({ ai_override, severity }: AlertChange, id: string, services: Services): boolean {
  return ai_override !== undefined || (isHigh(severity) && !isHigh(readAlert(id, services).severity));
}

function listOfAlert(context: Context<'listAlertHistory' | 'listAlertNotes'>, task: 'listAlertHistory' | 'listNotes') {
  const { services, params } = context;
  return listOfOwner(
    context,
    (query, options) => services.queries.run(task, { alertId: params.alert_id, query }, options),
    () => readAlert(params.alert_id, services),
  );
}

/** Returns the alert. Throws NOT_FOUND. */
const readAlert = (id: string, { reader }: Services) => found('alert', id, reader.getAlert(id));

/** Checks the assignee of a change. Throws INVALID_REQUEST if the assignee is not an active user. */
function requireAssignee({ assignee }: AlertChange, { reader }: Pick<Services, 'reader'>): void {
  if (!assignee) return;
  const user = reader.principalByName(assignee);
  if (user?.kind !== 'user' || user.status !== 'active')
    throw invalidField('assignee', 'must be the name of an active user');
}

function changedAlert({ alert }: AlertChanged, { reader: { assets } }: Services): Reply {
  assets.refresh();
  const { id, ...attributes } = withAssets(alert, assets);
  return resource('alert', id, attributes);
}
