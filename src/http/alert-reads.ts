import type { Alert } from '../contract/resources/alert.ts';
import { ServiceError } from '../errors.ts';
import { withAssets } from '../events/alert-assets.ts';
import type { AlertChanged } from '../store/store.ts';
import { afterCommit } from './after-commit.ts';
import { type Reply, resource } from './reply.ts';
import type { Services } from './services.ts';

/** The alert, or NOT_FOUND. */
export function readAlert(id: string, { reader }: Services): Alert {
  const alert = reader.getAlert(id);
  if (alert === undefined) throw new ServiceError('NOT_FOUND', `there is no alert ${id}`);
  return alert;
}

/** Tells subscribers and the outbox pump of a committed change, and makes it the answer. */
export function announce(update: AlertChanged, services: Services): Reply {
  afterCommit(services, () => {
    if (!update.unchanged) services.publishAlert(update);
    services.pokeOutbox();
  });
  const { assets } = services.reader;
  assets.refresh();
  const { id, ...attributes } = withAssets(update.alert, assets);
  return resource('alert', id, attributes);
}
