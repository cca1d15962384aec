package interconnect

// PathType classes the way between two devices, nearest first. The names are
// those of nvidia-smi, except that PathNET crosses the fabric.
type PathType uint8

// Path types.
const (
	PathSelf PathType = iota // the same device
	PathNVL                  // NVLink, direct or through NVSwitches
	PathNVB                  // NVLink through one other GPU
	PathPIX                  // at most one PCIe switch
	PathPXB                  // several PCIe switches, no host bridge
	PathPHB                  // a PCIe host bridge
	PathNODE                 // several host bridges of one NUMA node
	PathSYS                  // the link between NUMA nodes
	PathNET                  // network cards and the fabric
)

var pathNames = []string{"X", "NV", "NVB", "PIX", "PXB", "PHB", "NODE", "SYS", "NET"}

// String returns the type as nvidia-smi prints it, without a link count.
func (p PathType) String() string { return nameOf(int(p), pathNames) }
