import type { ShipperProtocol } from '../../contract/shippers.ts';
import type { ServiceError } from '../../errors.ts';
import type { Rendered } from '../reply.ts';
import type { RequestHead } from '../request.ts';
import { elasticsearchError } from './elasticsearch-error.ts';
import { otlpError } from './otlp-error.ts';
import { splunkError } from './splunk-error.ts';

/** Renders an error in the form of a protocol. `head` is the head of the request. */
export type ErrorReply = (error: ServiceError, head: RequestHead) => Rendered;

export const errorReplies: Readonly<Record<ShipperProtocol, ErrorReply>> = {
  elasticsearch: elasticsearchError,
  splunk: splunkError,
  otlp: otlpError,
};
