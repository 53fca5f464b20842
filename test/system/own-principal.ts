import type { Service } from '../../scripts/service.ts';
import { call } from './call.ts';

/** Issues a long-lived token of a new principal: limits count the tokens of one principal together. */
export async function ownToken(service: Service, admin: string, role: 'sensor' | 'viewer'): Promise<string> {
  const kind = role === 'sensor' ? 'sensor' : 'auditor_client';
  const name = `${role} ${crypto.randomUUID()}`;
  const created = await call(service, 'createPrincipal', {
    token: admin,
    json: { name, kind, roles: [role] },
  });
  const { id } = (created.body as { data: { id: string } }).data;
  const json = { name, scopes: [role], principal_id: id };
  const issued = await call(service, 'issueToken', { token: admin, json });
  if (issued.status !== 201) throw new Error(`${issued.status} ${JSON.stringify(issued.body)}`);
  return (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
}
