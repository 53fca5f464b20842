/** Header that rejects a change if the resource was changed by someone else since it was read. */
export const ifVersion = (version: number | undefined): { 'if-match'?: string } =>
  version === undefined ? {} : { 'if-match': `"${version}"` };
