import { severities } from '../../contract/resources/common.ts';
import type { AlertChange } from '../../store/store.ts';
import { announce, readAlert } from '../alert-reads.ts';
import { toBeLogged } from '../caused-entries.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import type { Services } from '../services.ts';

export const updateAlert: Handler<'updateAlert'> = async ({ services, params, headers, body, identity }) => {
  if (mustBeLogged(body, params.alert_id, services)) {
    toBeLogged();
    await requireLog(services);
  }
  const version = ifMatchVersion(headers['if-match']);
  const update = await services.store.changeAlert(params.alert_id, body, identity.principal, version);
  return announce(update, services);
};

/** An override of the AI's verdict, and a severity that brings an alert to high. */
function mustBeLogged({ ai_override, severity }: AlertChange, id: string, services: Services): boolean {
  const isHigh = (level: (typeof severities)[number]) =>
    severities.indexOf(level) >= severities.indexOf('high');
  if (ai_override !== undefined) return true;
  return severity !== undefined && isHigh(severity) && !isHigh(readAlert(id, services).severity);
}
