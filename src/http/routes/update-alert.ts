import { severities } from '../../contract/vocabulary.ts';
import type { AlertChange } from '../../store/store.ts';
import { announce, readAlert, requireAssignee } from '../alert-reads.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import type { Services } from '../services.ts';

export const updateAlert: Handler<'updateAlert'> = async (context) => {
  const { services, params, headers, body, identity, audited } = context;
  requireAssignee(body, services);
  const toBeLogged = mustBeLogged(body, params.alert_id, services);
  if (toBeLogged) await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  const update = await services.store.changeAlert(params.alert_id, body, identity.principal, version);
  if (toBeLogged) audited?.noteEntries();
  return announce(update, services);
};

/** An override of the AI's verdict, and a severity that brings an alert to high. */
function mustBeLogged({ ai_override, severity }: AlertChange, id: string, services: Services): boolean {
  const isHigh = (level: (typeof severities)[number]) =>
    severities.indexOf(level) >= severities.indexOf('high');
  if (ai_override !== undefined) return true;
  return severity !== undefined && isHigh(severity) && !isHigh(readAlert(id, services).severity);
}
