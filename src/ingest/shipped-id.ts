import { scopedId } from '../events/scoped-id.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the explicit id of a record from the id that its sender chose. A UUID is used in lower case. Other ids
 * are scoped to the sender, because several senders often use equal short ids.
 *
 * The name of the index is not included: it changes with the day and the version of the shipper, and a record
 * that is sent again must be found under any of these names.
 */
export const shippedId = (sender: string, id: string): string =>
  uuid.test(id) ? id.toLowerCase() : scopedId(sender, id);
