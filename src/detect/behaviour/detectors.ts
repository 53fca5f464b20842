import type { DetectorId } from '../../contract/vocabulary.ts';
import { BeaconingDetector } from './beaconing.ts';
import { BruteForceDetector } from './brute-force.ts';
import type { Detector } from './detector.ts';
import { DnsTunnelDetector } from './dns-tunnel.ts';
import { ExfiltrationDetector } from './exfiltration.ts';
import { GeneratedNamesDetector } from './generated-names.ts';
import { InternetBackgroundDetector } from './internet-background.ts';
import { LateralMovementDetector } from './lateral-movement.ts';
import { LongConnectionsDetector } from './long-connections.ts';
import { NetworkScanDetector } from './network-scan.ts';
import { NewServiceDetector } from './new-service.ts';
import { NxdomainStormDetector } from './nxdomain-storm.ts';
import { PortScanDetector } from './port-scan.ts';
import { RareDestinationsDetector } from './rare-destinations.ts';
import { Names } from './support/names.ts';

/** Constructors of detectors by the id of the detector's card. DNS detectors share a cache of names. */
const makers: Readonly<Record<DetectorId, (names: Names) => Detector>> = {
  'port-scan': () => new PortScanDetector(),
  'network-scan': () => new NetworkScanDetector(),
  'internet-background': () => new InternetBackgroundDetector(),
  'brute-force': () => new BruteForceDetector(),
  beaconing: () => new BeaconingDetector(),
  'long-connection': () => new LongConnectionsDetector(),
  exfiltration: () => new ExfiltrationDetector(),
  'dns-tunnel': (names) => new DnsTunnelDetector(names),
  'generated-names': (names) => new GeneratedNamesDetector(names),
  'nxdomain-storm': (names) => new NxdomainStormDetector(names),
  'rare-destination': () => new RareDestinationsDetector(),
  'new-service': () => new NewServiceDetector(),
  'lateral-movement': () => new LateralMovementDetector(),
};

/** Creates all detectors except those that are switched off. */
export function newDetectors(off: readonly DetectorId[] = []): Detector[] {
  const names = new Names();
  const ids = Object.keys(makers) as DetectorId[];
  return ids.filter((id) => !off.includes(id)).map((id) => makers[id](names));
}
