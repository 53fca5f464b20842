import type { ComponentChildren } from 'preact';

/** The legend of the graph. Its shapes match `styles` in graph.tsx. */
export function Legend() {
  return (
    <ul class="topology-legend quiet" aria-label="Legend">
      <Sign shape={<path class="legend-critical" d="M8 1 15 8 8 15 1 8Z" />}>Critical risk</Sign>
      <Sign shape={<path class="legend-high" d="M8 1.5 15 14 1 14Z" />}>High risk</Sign>
      <Sign shape={<circle class="legend-host legend-moderate" cx="8" cy="8" r="5.5" />}>Moderate risk</Sign>
      <Sign shape={<circle class="legend-host" cx="8" cy="8" r="5.5" />}>Host (size: connected hosts)</Sign>
      <Sign shape={<rect class="legend-network" x="1" y="3.5" width="14" height="9" rx="2" />}>Network</Sign>
      <Sign shape={<circle class="legend-host legend-fresh" cx="8" cy="8" r="5.5" />}>New</Sign>
      <Sign shape={<LineWith mark={<path class="legend-critical" d="M8 3 13 8 8 13 3 8Z" />} severity="critical" />}>
        Edge with critical-severity alerts
      </Sign>
      <Sign shape={<LineWith mark={<circle class="legend-high" cx="8" cy="8" r="4" />} severity="high" />}>
        Edge with high-severity alerts
      </Sign>
      <Sign shape={<LineWith mark={<circle class="legend-medium" cx="8" cy="8" r="3.5" />} severity="medium" />}>
        Edge with medium-severity alerts
      </Sign>
      <Sign shape={<path class="legend-line" d="M1 13.5 15 13.5 15 8.5 1 12.5Z" />}>Edge (width: bytes)</Sign>
    </ul>
  );
}

function Sign({ shape, children }: { shape: ComponentChildren; children: ComponentChildren }) {
  return (
    <li>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {shape}
      </svg>
      {children}
    </li>
  );
}

function LineWith({ mark, severity }: { mark: ComponentChildren; severity: string }) {
  return (
    <>
      <path class={`legend-alerted legend-alerted-${severity}`} d="M0 8H16" />
      {mark}
    </>
  );
}
