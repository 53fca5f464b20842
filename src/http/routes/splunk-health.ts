import { collectorAnswers } from '../../contract/splunk.ts';
import { ServiceError } from '../../errors.ts';
import { authorize } from '../access.ts';
import type { Handler } from '../context.ts';
import type { Services } from '../services.ts';
import { asBearer } from '../shippers/credentials.ts';
import { collectorOf } from '../shippers/splunk-collector.ts';
import { splunkReply } from '../shippers/splunk-reply.ts';

/**
 * Whether events are taken now. Shippers ask with the token that they will send, before they begin: one that may send
 * nothing is told so, and who shows none is answered all the same.
 */
export const splunkHealth: Handler<'splunkHealth'> = async ({ services, head }) => {
  const authorization = head.headers.get('authorization');
  if (authorization !== undefined && !(await maySend(services, authorization)))
    return splunkReply(collectorAnswers.invalidTokenOfHealth);
  if (!services.ready()) return splunkReply(collectorAnswers.stopping);
  const { status, advice } = await services.health.state();
  if (status === 'unavailable') return splunkReply(collectorAnswers.full, { message: advice });
  if (collectorOf(services).isFull(performance.now()))
    return splunkReply(collectorAnswers.full, { message: 'events were refused just now, for want of room' });
  return splunkReply(collectorAnswers.healthy);
};

async function maySend(services: Services, authorization: string): Promise<boolean> {
  const access = services.policy.accessOf('splunkEvent');
  try {
    const identity = await services.auth.authenticate({ authorization: asBearer(authorization) }, Date.now());
    if (access !== 'public') authorize(access, identity);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN'))
      return false;
    throw error;
  }
}
