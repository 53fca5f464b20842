import { type PrincipalUpdateInput, principalAttributes } from '../../contract/resources/principal.ts';
import { callerOf } from '../access.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { readPrincipal } from '../principal-reads.ts';
import { countingRefusals } from '../reached.ts';
import { resource } from '../reply.ts';

const passwordLimits = { OVERLOADED: 'maxPasswordChecksInFlight' } as const;

export const updatePrincipal: Handler<'updatePrincipal'> = async (context) => {
  const { services, params, headers, body, identity } = context;
  if (mustBeLogged(body)) await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  const known = readPrincipal(params.principal_id, services);
  const { roles = known.roles, status = known.status } = body;
  // The policy may have given administration to another role than `admin`, which the store looks after.
  if (known.status === 'active' && (body.roles !== undefined || status !== 'active'))
    services.policy.requireAdministrator({ ...known, roles, status });
  const changing = services.auth.changePrincipal(known, body, callerOf(identity), version);
  const { principal } = await countingRefusals(services.metrics, passwordLimits, changing);
  services.principalChanged(principal.id);
  services.pokeOutbox();
  return resource('principal', principal.id, principalAttributes(principal));
};

/** What gives somebody more. To lock a principal out must be possible when the log takes nothing: its entry waits. */
function mustBeLogged({ roles, status }: PrincipalUpdateInput): boolean {
  return roles !== undefined || status === 'active';
}
