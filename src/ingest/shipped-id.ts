import { scopedId } from '../events/scoped-id.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The explicit id of a record whose sender calls it something: a UUID as it is, anything else scoped to the sender, as
 * short ids of several senders are often the same.
 *
 * The name of the index is not in it: it changes with the day and the version of the shipper, and a record that is sent
 * again must be found under whichever it has then.
 */
export const shippedId = (sender: string, id: string): string =>
  uuid.test(id) ? id.toLowerCase() : scopedId(sender, id);
