/** The terms that analysts search for find the built-in rules. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { login, type Service, startService } from '../../scripts/service.ts';

let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService();
  token = await login(service);
});
afterAll(() => service.stop());

test.each([
  ['Zerologon', /Zerologon/],
  ['CVE-2020-1472', /Zerologon/],
  ['DCSync', /DCSync/],
  ['Kerberoasting', /Kerberoasting/],
  ['PetitPotam', /PetitPotam/],
  ['Responder', /LLMNR/],
  ['WPAD', /WPAD/],
  ['Log4Shell', /Log4Shell/],
  ['JNDI', /JNDI/],
  ['Shellshock', /Shellshock/],
  ['Cobalt Strike', /C2 certificate/],
  ['dnscat2', /dnscat2/],
  ['DNS tunnelling', /DNS tunnelling/],
  ['iodine', /iodine/],
  ['DNS rebinding', /DNS rebinding/],
  ['WannaCry', /WannaCry/],
  ['Sinkhole', /Sinkholed/],
  ['Interactsh', /OAST/],
  ['ngrok', /Tunnelling service/],
  ['brute force', /SSH brute force/],
  ['password spraying', /SSH password spraying/],
  ['user enumeration', /Kerberos user enumeration/],
  ['PsExec', /PsExec/],
  ['scheduled task', /Remote scheduled task/],
  ['hive dump', /registry hive dump/],
  ['NTDS.dit', /Credential file access/],
  ['LSASS', /Credential file access/],
  ['admin share', /admin share/],
  ['ransomware', /Ransomware/],
  ['SMBv1', /SMBv1/],
  ['EternalBlue', /SMBv1/],
  ['credential leak', /NTLM/],
  ['AXFR', /zone transfer/],
  ['path traversal', /Path traversal/],
  ['SQL injection', /SQL injection/],
  ['LOLBIN', /LOLBIN/],
  ['certutil', /LOLBIN/],
  ['export TLS cipher', /export/],
  ['Tor2web', /Tor2web/],
  ['port sweep', /Internal port sweep/],
  ['cryptomining', /Cryptomining/],
  ['T1558.003', /Kerberoasting/],
])('q=%s finds the rule', async (term, title) => {
  const url = `${service.url}/api/v1/rules?per_page=200&q=${encodeURIComponent(term)}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  const { data } = (await answer.json()) as { data: { attributes: { title: string } }[] };
  expect(data.map(({ attributes }) => attributes.title)).toContainEqual(expect.stringMatching(title));
});
