import type { CollectorAnswer } from '../../contract/splunk.ts';
import { type BareReply, bareJson } from '../reply.ts';

/** An answer as Splunk's collector gives it, with what it says besides. */
export const splunkReply = ({ status, code, text }: CollectorAnswer, more: object = {}): BareReply =>
  bareJson({ text, code, ...more }, status);
