import type { CollectorAnswer } from '../../contract/splunk.ts';
import { type BareReply, bareJson } from '../reply.ts';

/** Returns a response in the form of Splunk's collector, with further members. */
export const splunkReply = ({ status, code, text }: CollectorAnswer, more: object = {}): BareReply =>
  bareJson({ text, code, ...more }, status);
