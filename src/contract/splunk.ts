/** Responses of the Splunk HTTP Event Collector (from its documentation, "Possible error codes"). */
export const collectorAnswers = {
  success: { status: 200, code: 0, text: 'Success' },
  tokenRequired: { status: 401, code: 2, text: 'Token is required' },
  invalidAuthorization: { status: 401, code: 3, text: 'Invalid authorization' },
  invalidToken: { status: 403, code: 4, text: 'Invalid token' },
  noData: { status: 400, code: 5, text: 'No data' },
  invalidData: { status: 400, code: 6, text: 'Invalid data format' },
  internal: { status: 500, code: 8, text: 'Internal server error' },
  busy: { status: 503, code: 9, text: 'Server is busy' },
  channelMissing: { status: 400, code: 10, text: 'Data channel is missing' },
  invalidChannel: { status: 400, code: 11, text: 'Invalid data channel' },
  eventMissing: { status: 400, code: 12, text: 'Event field is required' },
  eventBlank: { status: 400, code: 13, text: 'Event field cannot be blank' },
  invalidFields: { status: 400, code: 15, text: 'Error in handling indexed fields' },
  tokenInUrl: { status: 400, code: 16, text: 'Query string authorization is not enabled' },
  healthy: { status: 200, code: 17, text: 'HEC is healthy' },
  full: { status: 503, code: 18, text: 'HEC is unhealthy, queues are full' },
  invalidTokenOfHealth: { status: 400, code: 21, text: 'Invalid token' },
  stopping: { status: 503, code: 23, text: 'Server is shutting down' },
} as const satisfies Record<string, CollectorAnswer>;

export interface CollectorAnswer {
  readonly status: number;
  readonly code: number;
  readonly text: string;
}

/** Errors of event envelopes that have their own code. */
export const envelopeFaults = {
  eventMissing: { field: 'envelope.event', reason: 'is missing' },
  eventBlank: { field: 'envelope.event', reason: 'is blank' },
  invalidFields: { field: 'envelope.fields', reason: 'is not an object' },
} as const satisfies Partial<Record<keyof typeof collectorAnswers, { field: string; reason: string }>>;

/**
 * Returns the Splunk error for an invalid event. Returns undefined if only the record inside is invalid, because Splunk
 * accepts any record.
 *
 * @param field - starts with `envelope` for fields of the envelope
 */
export function envelopeAnswer(field: string | undefined, reason: string): CollectorAnswer | undefined {
  for (const [name, fault] of Object.entries(envelopeFaults))
    if (fault.field === field && fault.reason === reason) return collectorAnswers[name as keyof typeof envelopeFaults];
  return field !== undefined && /^envelope\b/.test(field) ? collectorAnswers.invalidData : undefined;
}

/** Error of a body without events. */
export const noData = { field: 'body', reason: 'contains no events' } as const;

export const channelHeader = 'x-splunk-request-channel';
