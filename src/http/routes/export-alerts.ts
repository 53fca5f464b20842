import { listFilterOf } from '../../contract/query.ts';
import type { Handler } from '../context.ts';
import { ExportPages } from '../export-pages.ts';

export const exportAlerts: Handler<'exportAlerts'> = async ({ services, query, signal }) => {
  const { format = 'ndjson', ...which } = query;
  const asked = { filter: listFilterOf(which), format, version: services.version };
  const chunks = await ExportPages.open(services, asked, signal, services.exports.take());
  const name = `alerts-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}${endings[format]}`;
  return {
    kind: 'stream',
    mediaType: 'application/x-ndjson',
    chunks,
    headers: [['Content-Disposition', `attachment; filename="${name}"`]],
  };
};

const endings = { ndjson: '.ndjson', ocsf: '.ocsf.ndjson' } as const;
