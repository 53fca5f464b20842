import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getService: Handler<'getService'> = ({ services, params }) => {
  const service = services.reader.getService(params.service_id);
  if (service === undefined) throw new ServiceError('NOT_FOUND', `there is no service ${params.service_id}`);
  return resource('service', params.service_id, service);
};
