import { onlyId } from '../../contract/singleton.ts';
import { defaultWindow } from '../../contract/vocabulary.ts';
import { askedBy } from '../asked-by.ts';
import type { Handler } from '../context.ts';
import { countingRefusals, queryLimits } from '../reached.ts';
import { resource } from '../reply.ts';

export const getDashboard: Handler<'getDashboard'> = async (context) => {
  const { services, query } = context;
  const { size: ledger_size } = await services.ledger.status();
  const { window = defaultWindow } = query;
  const asked = { window, now: Date.now(), ledger_size, ingest: services.metrics.records() };
  const figures = services.queries.run('dashboard', asked, askedBy(context));
  return resource('dashboard', onlyId, await countingRefusals(services.metrics, queryLimits, figures));
};
