import { expectTypeOf } from 'vitest';
import type { CallInput, CallResult, Client } from '../../src/client/client.ts';
import type { Live } from '../../src/client/live.ts';
import type { ChannelEvent } from '../../src/contract/channels.ts';
import type { Alert } from '../../src/contract/resources/alert.ts';

const alertId = '0199b1c2-0000-7000-8000-000000000000';

/** Never runs: only the compiler checks this function. */
export async function mustCompile(client: Client, live: Live): Promise<void> {
  const alert = await client.call('getAlert', { params: { alert_id: alertId } });
  expectTypeOf(alert.data.attributes).toEqualTypeOf<Alert>();
  expectTypeOf(alert.data.type).toEqualTypeOf<'alert'>();
  expectTypeOf<CallResult<'logout'>>().toEqualTypeOf<undefined>();
  expectTypeOf<CallResult<'getMetrics'>>().toEqualTypeOf<string>();
  expectTypeOf<CallResult<'listAlerts'>['pagination']['total']>().toEqualTypeOf<number>();
  expectTypeOf<CallInput<'login'>['body']>().toEqualTypeOf<{ username: string; password: string }>();
  expectTypeOf<ChannelEvent<'alerts'>['data']['attributes']>().toEqualTypeOf<Alert>();
  for await (const item of client.items('listAlerts', { query: { status: ['new'], sort: '-last_seen' } }))
    expectTypeOf(item.attributes).toEqualTypeOf<Alert>();
  for await (const item of client.items('listAlertNotes', { params: { alert_id: alertId } }))
    expectTypeOf(item.type).toEqualTypeOf<'alert_note'>();
  // @ts-expect-error: the path parameter is missing
  client.items('listAlertNotes');
  // @ts-expect-error: not a list
  client.items('getAlert', { params: { alert_id: alertId } });
  // @ts-expect-error: a complete list has no pages
  client.items('listAlerts', { query: { page: 2 } });
  // @ts-expect-error: no such filter
  client.items('listAlerts', { query: { colour: 'red' } });
  await client.stream('exportAlerts', { query: { severity: 'high', format: 'ocsf' } });
  // @ts-expect-error: not a text
  await client.stream('listAlerts');
  // @ts-expect-error: no such format
  await client.stream('exportAlerts', { query: { format: 'csv' } });
  // @ts-expect-error: the path parameter is missing
  await client.call('getAlert');
  // @ts-expect-error: the path parameter has another name
  await client.call('getAlert', { params: { id: alertId } });
  // @ts-expect-error: no such operation
  await client.call('getEverything');
  // @ts-expect-error: an upgrade, not a call
  await client.call('streamAlerts');
  // @ts-expect-error: no such filter
  await client.call('listAlerts', { query: { colour: 'red' } });
  // @ts-expect-error: no such status
  await client.call('listAlerts', { query: { status: 'closed' } });
  // @ts-expect-error: no such status
  await client.call('updateAlert', { params: { alert_id: alertId }, body: { status: 'closed' } });
  // @ts-expect-error: read-only
  await client.call('updateAlert', { params: { alert_id: alertId }, body: { version: 2 } });
  // @ts-expect-error: the body is missing
  await client.call('login');
  live.subscribe(
    'alerts',
    { status: ['new', 'in_progress'], severity: 'high' },
    { onEvent: ({ data }) => expectTypeOf(data.attributes).toEqualTypeOf<Alert>() },
    { since: 7 },
  );
  // @ts-expect-error: no such channel
  live.subscribe('gossip', {}, { onEvent() {} });
  // @ts-expect-error: a filter of another channel
  live.subscribe('alerts', { rcode: 3 }, { onEvent() {} });
  // @ts-expect-error: an option, not a filter
  live.subscribe('alerts', { since: 3 }, { onEvent() {} });
}
