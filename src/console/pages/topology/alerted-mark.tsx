import { openAlertStatuses } from '../../../contract/vocabulary.ts';
import { href } from '../../state/address.ts';
import { number } from '../../ui/format.ts';
import { Severity, shownTime } from '../../ui/values.tsx';
import { type Alerted, minMarkedSeverity } from './alerted.ts';
import type { Edge } from './arrange.ts';

/** The highest severity and the number of open alerts on an edge, linked to the alerts. */
export function AlertedMark({ edge, alerted }: { edge: Edge; alerted: Alerted | undefined }) {
  if (alerted === undefined) return null;
  const { count, severity, forth, back } = alerted;
  const description = `open ${count === 1 ? 'alert' : 'alerts'} between ${edge.source} and ${edge.target}`;
  const ends = [edge.source, edge.target];
  const filters = {
    src_ip: back ? (forth ? ends : edge.target) : edge.source,
    dst_ip: back ? (forth ? ends : edge.source) : edge.target,
    status: openAlertStatuses,
    min_severity: minMarkedSeverity,
  };
  return (
    <a class="alerted-mark" href={href('alerts', { ...shownTime(), ...filters })} title={description}>
      <Severity level={severity} short /> {number(count)}
      <span class="unseen"> {description}</span>
    </a>
  );
}
