import { writeList } from '../../contract/json-list.ts';
import { openApiDocument } from '../../contract/openapi.ts';
import type { Backup } from '../../contract/resources/backup.ts';
import type { Config } from '../../contract/resources/config.ts';
import type { Health } from '../../contract/resources/health.ts';
import { systemRoutes } from '../../contract/routes/system.ts';
import { onlyId } from '../../contract/singleton.ts';
import { writeTreeHead } from '../../contract/write-tree-head.ts';
import { ServiceError } from '../../errors.ts';
import type { Handlers } from '../context.ts';
import { listReply } from '../list-reply.ts';
import { shownIdentity } from '../log-view.ts';
import { requireLog } from '../preconditions.ts';
import { accepted, bareJson, jsonText, type Reply, resource } from '../reply.ts';
import { currentStatus } from '../status.ts';

let written: { version: string; json: Buffer } | undefined;

const { mediaType } = systemRoutes.getMetrics.responses[200];

export const systemHandlers = {
  getConfig: async ({ services }) => configReply(await services.settings.read()),

  async updateConfig({ services, body, audited }) {
    let isStored = false;
    const config = await services.settings.change(body.settings, () => {
      isStored = true;
    });
    if (!isStored) audited?.noteNoChange();
    return configReply(config);
  },

  listBackups: (context) =>
    listReply(context, async (query) => {
      const { items, ...page } = await context.services.backups.list(query);
      const texts = items.map(({ id, attributes }) => {
        return `{"id":"${id}","type":"backup","attributes":${backupText(attributes)}}`;
      });
      return { json: writeList(texts, query.form), ...page };
    }),

  async createBackup({ services, identity, audited }) {
    await requireLog(services);
    const { id, attributes } = await services.backups.begin(identity.principal.id);
    // The log entry of the backup has the id of the backup.
    audited?.noteEntries([id]);
    return accepted('backup', id, backupText(attributes), `/api/v1/backups/${id}`);
  },

  async getBackup({ services, params }) {
    const { id, attributes } = await services.backups.get(params.backup_id.toLowerCase());
    return resource('backup', id, backupText(attributes));
  },

  async confirmClock({ services }) {
    await services.ledger.confirmClock();
    return resource('status', onlyId, await currentStatus(services));
  },

  getStatus: async ({ services }) => resource('status', onlyId, await currentStatus(services)),

  getOpenApi({ services: { version } }) {
    if (written?.version !== version) {
      written = { version, json: Buffer.from(JSON.stringify(openApiDocument(version))) };
    }
    return jsonText(written.json);
  },

  /**
   * Responds with 503 only if the service cannot serve any client: with a degraded log, it still ingests and
   * reads.
   */
  async getHealth({ services }) {
    const health = await services.health.state();
    return bareJson(
      {
        ...health,
        version: services.version,
        not_stored: services.metrics.notStored.counts(),
        timestamp: new Date().toISOString(),
      } satisfies Health,
      health.status === 'unavailable' ? 503 : 200,
    );
  },

  async getMetrics(context) {
    const { services } = context;
    if (services.config['ledger.publication_delay_ms'] > 0 && (await shownIdentity(context)) === undefined)
      throw new ServiceError(
        'UNAUTHENTICATED',
        'metrics require credentials, because they count log entries that are published with a delay',
      );
    // A scrape must succeed even while a thread is down, because metrics are then needed most.
    const status = await currentStatus(services).catch(() => undefined);
    const body = await services.metrics.scrape(status);
    return { kind: 'bare', status: 200, mediaType, body };
  },
} satisfies Handlers<typeof systemRoutes>;

const configReply = (config: Config): Reply => resource('config', onlyId, config);

/** Returns the attributes of a backup as JSON, with the exact digits of the tree head. */
function backupText({ sth, ...attributes }: Backup): string {
  const text = JSON.stringify(attributes);
  return sth === undefined ? text : `${text.slice(0, -1)},"sth":${writeTreeHead(sth)}}`;
}
