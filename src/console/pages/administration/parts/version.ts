/** Returns the header that rejects a change if another user has changed the resource since it was read. */
export const ifVersion = (version: number | undefined): { 'if-match'?: string } =>
  version === undefined ? {} : { 'if-match': `"${version}"` };
