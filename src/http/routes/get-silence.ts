import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getSilence: Handler<'getSilence'> = ({ services, params }) => {
  const silence = services.reader.getSilence(params.silence_id, Date.now());
  if (silence === undefined) throw new ServiceError('NOT_FOUND', `there is no silence ${params.silence_id}`);
  return resource('silence', params.silence_id, silence);
};
