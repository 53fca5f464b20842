/**
 * Media types that request a whole list with the `Accept` header: one item per line (NDJSON), or an Arrow IPC
 * stream.
 */
export const wholeListTypes = {
  arrow: 'application/vnd.apache.arrow.stream',
  lines: 'application/x-ndjson',
} as const;

export type WholeListForm = keyof typeof wholeListTypes;
