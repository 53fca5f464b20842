/** Sent along with a change: it is refused where somebody else changed the resource after it was seen. */
export const ifVersion = (version: number | undefined): { 'if-match'?: string } =>
  version === undefined ? {} : { 'if-match': `"${version}"` };
