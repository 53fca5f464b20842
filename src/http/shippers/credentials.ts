/**
 * Converts the token formats of shippers' protocols to `Bearer` (RFC 6750):
 *
 * | header | the token is |
 * |---|---|
 * | `Basic base64(user:token)` (RFC 7617) | the password; the user may be anything |
 * | `ApiKey base64(id:token)` (Elasticsearch) | the key; the id may be anything |
 * | `ApiKey token` | the value |
 * | `Splunk token` (HTTP Event Collector) | the value |
 *
 * Users' passwords are not accepted: checking a password for each request would cost 20 ms and 19 MiB, and
 * passwords would be stored in the files of shippers. Other headers are returned unchanged.
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

/**
 * Returns whether the value is a token of this service. Such a token must not be decoded as base64, because the
 * decoded bytes may contain a colon by chance.
 */
const isToken = (value: string): boolean => /^candor_|\./.test(value);

function behindColon(value: string): string | undefined {
  const pair = Buffer.from(value, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : pair.slice(colon + 1);
}
