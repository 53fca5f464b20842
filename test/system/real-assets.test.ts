/** The machines and services of a recorded network, from the lines of another sensor in smaller bodies. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Service, startService } from '../../scripts/service.ts';
import { describeAssets } from './recorded-assets.ts';
import { office, type SentNetwork, sendNetwork } from './recorded-networks.ts';
import { hasSharedData } from './shared-data.ts';

describe.skipIf(!hasSharedData)('lines of Suricata in bodies of 3,000', () => {
  let service: Service;
  let sent: SentNetwork;
  beforeAll(async () => {
    service = await startService({ env: office.env });
    sent = await sendNetwork(service, office, { format: 'Suricata', perBody: 3_000 });
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });
  describeAssets(office, () => sent);
});
