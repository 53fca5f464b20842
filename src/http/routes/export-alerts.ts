import type { ExportPlace } from '../../analytics/alert-export.ts';
import { listFilterOf } from '../../contract/query.ts';
import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { requireWhole } from '../export-pages.ts';
import { exportReply } from '../export-reply.ts';
import { countingRefusals, queryLimits } from '../reached.ts';

export const exportAlerts: Handler<'exportAlerts'> = (context) => {
  const { format = 'ndjson', ...which } = context.query;
  const { queries, version, metrics } = context.services;
  const asked = { filter: listFilterOf(which), format, version };
  const name = `alerts-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}${endings[format]}`;
  return exportReply<ExportPlace>(
    context,
    'lines',
    async (place) => {
      const part = place === undefined ? asked : { ...asked, place };
      const made = queries.run('exportAlerts', part, askedBy(context));
      const { lines: bytes, ...rest } = requireWhole(await countingRefusals(metrics, queryLimits, made));
      return { bytes, ...rest };
    },
    [['Content-Disposition', `attachment; filename="${name}"`]],
  );
};

const endings = { ndjson: '.ndjson', ocsf: '.ocsf.ndjson' } as const;
