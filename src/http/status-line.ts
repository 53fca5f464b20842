/**
 * Reason phrases. An import declaration of `node:http` would read each of the module's properties, and one of them loads
 * undici, which delays each start.
 */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Returns the code and its reason phrase (RFC 9110, section 15). */
export const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
