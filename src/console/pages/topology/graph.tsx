import cytoscape, { type Core, type ElementDefinition, type StylesheetJson } from 'cytoscape';
import { useEffect, useRef } from 'preact/hooks';
import { shownTheme } from '../../state/preferences.ts';
import { compact } from '../../ui/format.ts';
import { type Box, boxId, elsewhere, nameWithin, type Place } from './arrange.ts';
import { type Bundle, foremost, thickness } from './lines.ts';

interface GraphProps {
  readonly boxes: readonly Box[];
  readonly places: ReadonlyMap<string, Place>;
  readonly bundles: readonly Bundle[];
  /** The node or network that the rest is dimmed for. */
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
  /** Opens or closes a network outside. */
  readonly onToggle: (network: string) => void;
  /** Ids of nodes and bundles that are new since the page was opened. */
  readonly fresh: ReadonlySet<string>;
}

/** So many lines are drawn at most. */
const maxLines = 1500;

/** The picture. It can be moved, zoomed and clicked; everything in it is in the table as well. */
export function Graph(props: GraphProps) {
  const host = useRef<HTMLDivElement>(null);
  const core = useRef<Core | undefined>(undefined);
  const moved = useRef(false);
  const latest = useRef(props);
  latest.current = props;
  const theme = shownTheme();
  const { boxes, places, bundles, selected, fresh } = props;

  useEffect(() => {
    if (host.current === null) return;
    const made = cytoscape({
      container: host.current,
      minZoom: 0.05,
      maxZoom: 4,
      boxSelectionEnabled: false,
      autoungrabify: true,
      // A large picture stays quick while it moves.
      textureOnViewport: true,
      hideEdgesOnViewport: false,
      pixelRatio: 'auto',
    });
    made.on('tap', (event) => {
      if (event.target === made) latest.current.onSelect(undefined);
      else latest.current.onSelect(event.target.isNode() ? event.target.id() : event.target.source().id());
    });
    made.on('dbltap', 'node[closed], node[outside]', (event) =>
      latest.current.onToggle(event.target.data('network')),
    );
    // In a window that becomes another, all of it is seen again, until somebody looks at a part of it.
    made.on('scrollzoom dragpan pinchzoom', () => {
      moved.current = true;
    });
    made.on('resize', () => {
      if (!moved.current) made.fit(undefined, 24);
    });
    core.current = made;
    return () => {
      made.destroy();
      core.current = undefined;
    };
  }, []);

  useEffect(() => {
    core.current?.style(styles());
  }, [theme]);

  useEffect(() => {
    const shown = core.current;
    if (shown === undefined) return;
    const isFirst = shown.nodes().empty();
    show(shown, elements(boxes, places, bundles, fresh));
    if (isFirst) shown.fit(undefined, 24);
  }, [boxes, places, bundles, fresh]);

  useEffect(() => {
    const shown = core.current;
    if (shown === undefined) return;
    shown.batch(() => {
      shown.elements().removeClass('dimmed chosen');
      if (selected === undefined) return;
      const node = shown.getElementById(selected);
      if (node.empty()) return;
      const own = node.union(node.children());
      const near = own.union(own.connectedEdges()).union(own.connectedEdges().connectedNodes());
      shown.elements().difference(near.union(near.parents())).addClass('dimmed');
      near.edges().addClass('chosen');
      node.addClass('chosen');
    });
  }, [selected, boxes, bundles]);

  const zoom = (by: number) => {
    const shown = core.current;
    if (shown === undefined) return;
    moved.current = true;
    const middle = { x: shown.width() / 2, y: shown.height() / 2 };
    shown.zoom({ level: shown.zoom() * by, renderedPosition: middle });
  };
  const showAll = () => {
    moved.current = false;
    core.current?.fit(undefined, 24);
  };
  return (
    <div class="topology-graph">
      {/* Where an element of this name is, cytoscape adds no style of its own, which the policy of the page would refuse. */}
      <div
        id="__________cytoscape_stylesheet"
        ref={host}
        class="topology-canvas"
        role="img"
        aria-label={told(boxes, bundles)}
      />
      <div class="topology-zoom">
        <button type="button" aria-label="Closer" onClick={() => zoom(1.4)}>
          +
        </button>
        <button type="button" aria-label="Further away" onClick={() => zoom(1 / 1.4)}>
          −
        </button>
        <button type="button" aria-label="All of it" onClick={showAll}>
          ⤢
        </button>
      </div>
    </div>
  );
}

/** What a closed network is called. */
export const nameOf = ({ id, nodes }: Box): string =>
  id === elsewhere
    ? `${compact(nodes.length)} other\naddresses outside`
    : `${id}\n${compact(nodes.length)} addresses`;

const told = (boxes: readonly Box[], bundles: readonly Bundle[]): string =>
  `${compact(boxes.reduce((sum, { nodes }) => sum + nodes.length, 0))} hosts in ${compact(boxes.length)} networks, ${compact(bundles.length)} lines between them. The table has the same.`;

function elements(
  boxes: readonly Box[],
  places: ReadonlyMap<string, Place>,
  bundles: readonly Bundle[],
  fresh: ReadonlySet<string>,
): ElementDefinition[] {
  const nodes = boxes.flatMap((box): ElementDefinition[] => {
    const network = { network: box.id, ...(box.isHome ? {} : { outside: true }) };
    if (!box.isOpen)
      return [
        {
          data: { id: box.id, label: nameOf(box), closed: true, ...network },
          position: places.get(box.id)!,
        },
      ];
    const hosts = box.nodes.map(
      (node): ElementDefinition => ({
        data: {
          id: node.id,
          label: box.nodes.length > 1 ? nameWithin(node) : node.label,
          ...(box.nodes.length > 1 && { parent: boxId(box.id), within: true }),
          size: 10 + Math.min(22, 4 * Math.log2(1 + node.degree)),
          risk: node.risk_level ?? 'none',
          ...network,
        },
        classes: fresh.has(node.id) ? 'fresh' : '',
        position: places.get(node.id)!,
      }),
    );
    if (box.nodes.length === 1) return hosts;
    return [{ data: { id: boxId(box.id), label: box.id, box: true, ...network } }, ...hosts];
  });
  const lines = foremost(bundles, maxLines).map(
    ({ id, source, target, bytes, alerted }): ElementDefinition => ({
      data: { id, source, target, width: thickness(bytes), severity: alerted?.severity ?? 'none' },
      classes: fresh.has(id) ? 'fresh' : '',
    }),
  );
  return [...nodes, ...lines];
}

/** Makes what is shown these elements: what stays is moved, and keeps its place in the eye. */
function show(core: Core, next: readonly ElementDefinition[]): void {
  core.batch(() => {
    const ids = new Set(next.map(({ data }) => data.id));
    core
      .elements()
      .filter((element) => !ids.has(element.id()))
      .remove();
    for (const element of next) {
      const known = core.getElementById(element.data.id!);
      if (known.empty()) {
        core.add(element);
        continue;
      }
      if (!isSame(known.data(), element.data)) known.data(element.data);
      if (!known.hasClass('fresh') && element.classes === 'fresh') known.addClass('fresh');
      if (!known.isNode()) continue;
      const { x, y } = known.position();
      if (element.position !== undefined && (element.position.x !== x || element.position.y !== y))
        known.position(element.position);
      if (known.parent().first().id() !== element.data.parent)
        known.move({ parent: element.data.parent ?? null });
    }
  });
}

const isSame = (known: Record<string, unknown>, next: Record<string, unknown>): boolean =>
  Object.entries(next).every(([name, value]) => known[name] === value);

/** What a line that is alerted on bears in its middle: shapes that point nowhere. */
const marks = {
  medium: { 'mid-target-arrow-shape': 'circle', 'mid-target-arrow-fill': 'hollow' },
  high: { 'mid-target-arrow-shape': 'circle' },
  critical: { 'mid-target-arrow-shape': 'diamond' },
} as const;

function styles(): StylesheetJson {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const label = {
    label: 'data(label)',
    color: colour('--quiet'),
    'font-size': 10,
    'font-family': 'monospace',
    // What is too small to be read is not drawn.
    'min-zoomed-font-size': 8,
    'text-max-width': '160px',
  } as const;
  return [
    {
      selector: 'node',
      style: {
        ...label,
        'background-color': colour('--line-strong'),
        'border-width': 1,
        'border-color': colour('--quiet'),
        'text-valign': 'bottom',
        'text-wrap': 'ellipsis',
        'text-margin-y': 2,
      },
    },
    { selector: 'node[?within]', style: { 'text-max-width': '54px' } },
    { selector: 'node[?outside]', style: { 'font-size': 12 } },
    { selector: 'node[size]', style: { width: 'data(size)', height: 'data(size)' } },
    {
      selector: 'node[?box]',
      style: {
        shape: 'round-rectangle',
        'background-color': colour('--panel'),
        'background-opacity': 0.6,
        'border-color': colour('--line-strong'),
        'text-valign': 'top',
        'font-size': 14,
        'text-max-width': '240px',
        padding: '12px',
      },
    },
    {
      selector: 'node[?closed]',
      style: {
        shape: 'round-rectangle',
        width: 124,
        height: 36,
        'background-color': colour('--raised'),
        'text-valign': 'center',
        'text-margin-y': 0,
        'text-wrap': 'wrap',
      },
    },
    // Colour is for what is alerted on, or new; shapes and borders tell it as well.
    {
      selector: 'node[risk = "critical"]',
      style: { 'background-color': colour('--critical'), shape: 'diamond' },
    },
    {
      selector: 'node[risk = "high"]',
      style: { 'background-color': colour('--high'), shape: 'round-triangle' },
    },
    {
      selector: 'node.fresh',
      style: { 'border-color': colour('--accent'), 'border-width': 3, 'border-style': 'dashed' },
    },
    // What is new and at risk has the dashes of the one and the colour of the other.
    { selector: 'node[risk = "moderate"]', style: { 'border-color': colour('--medium'), 'border-width': 3 } },
    {
      selector: 'edge',
      style: {
        width: 'data(width)',
        'line-color': colour('--previous'),
        'line-opacity': 0.35,
        'curve-style': 'straight',
      },
    },
    {
      selector: 'edge.fresh',
      style: { 'line-color': colour('--accent'), 'line-opacity': 0.9, 'line-style': 'dashed' },
    },
    ...Object.entries(marks).map(([severity, mark]) => ({
      selector: `edge[severity = "${severity}"]`,
      style: {
        'line-color': colour(`--${severity}`),
        'line-opacity': 0.9,
        'mid-target-arrow-color': colour(`--${severity}`),
        ...mark,
        'arrow-scale': 1.2,
        'z-index': 1,
      },
    })),
    {
      selector: 'edge.chosen[severity = "none"]',
      style: { 'line-color': colour('--accent'), 'line-opacity': 0.8 },
    },
    { selector: 'node.chosen', style: { 'border-color': colour('--accent'), 'border-width': 3 } },
    { selector: '.dimmed', style: { opacity: 0.12 } },
  ] as unknown as StylesheetJson;
}
