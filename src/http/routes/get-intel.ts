import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getIntel: Handler<'getIntel'> = ({ services, params }) => {
  const { id, list } = services.intel.get(params.intel_id);
  return resource('intel_list', id, list);
};
