import type { servicesRoutes } from '../../contract/routes/services.ts';
import { ServiceError } from '../../errors.ts';
import { readAsset } from '../asset-reads.ts';
import type { Handlers } from '../context.ts';
import { listReply, pooledList } from '../list-reply.ts';
import { resource } from '../reply.ts';

export const servicesHandlers = {
  listServices: (context) => pooledList(context, 'listServices'),

  getService({ services, params }) {
    const service = services.reader.getService(params.service_id);
    if (service === undefined) throw new ServiceError('NOT_FOUND', `there is no service ${params.service_id}`);
    return resource('service', params.service_id, service);
  },

  listAssetServices(context) {
    const { services, params } = context;
    const ofAsset = { field: 'asset_id', values: [params.asset_id] };
    return listReply(context, async (query, options) => {
      const wanted = { ...query, terms: [...query.terms, ofAsset] };
      // The page is read first, so that a cursor of another list is refused even for unknown assets.
      const page = await services.queries.run('listServices', wanted, options);
      readAsset(params.asset_id, services);
      return page;
    });
  },
} satisfies Handlers<typeof servicesRoutes>;
