/**
 * How shippers show a token where what they speak has ways of its own, as `Bearer` has it (RFC 6750):
 *
 * | header | the token is |
 * |---|---|
 * | `Basic base64(user:token)` (RFC 7617) | the password; the user may be anything |
 * | `ApiKey base64(id:token)` (Elasticsearch) | the key; the id may be anything |
 * | `ApiKey token` | itself |
 * | `Splunk token` (HTTP Event Collector) | itself |
 *
 * Passwords of people are none: each request would have to check one, at 20 ms and 19 MiB, and they would lie in the
 * files of shippers. What is none of these is left as it is, for whoever reads it to refuse.
 */
export function asBearer(authorization: string | undefined): string | undefined {
  const [, scheme = '', value = ''] = /^([A-Za-z]+) +(\S+)$/.exec(authorization ?? '') ?? [];
  const token = tokens.get(scheme.toLowerCase())?.(value);
  return token === undefined ? authorization : `Bearer ${token}`;
}

const tokens: ReadonlyMap<string, (value: string) => string | undefined> = new Map([
  ['basic', behindColon],
  ['apikey', (value: string) => (isToken(value) ? value : behindColon(value))],
  ['splunk', (value: string) => value],
]);

/** A token as the service issues it. Decoded as base64 it may hold a colon by chance. */
const isToken = (value: string): boolean => /^candor_|\./.test(value);

function behindColon(value: string): string | undefined {
  const pair = Buffer.from(value, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : pair.slice(colon + 1);
}
