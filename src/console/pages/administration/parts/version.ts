/** Returns the header with which the service rejects a change if the resource has changed since it was read. */
export const ifVersion = (version: number | undefined): { 'if-match'?: string } =>
  version === undefined ? {} : { 'if-match': `"${version}"` };
