import { onlyId } from '../../contract/singleton.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getTriageModel: Handler<'getTriageModel'> = async ({ services }) =>
  resource('triage_model', onlyId, services.reader.triageModel());
