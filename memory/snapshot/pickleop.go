package snapshot

// The opcodes of Python's pickle format that a snapshot is made of
// (https://docs.python.org/3/library/pickletools.html). Values are built on a
// stack; the memo holds values that are used more than once.
const (
	opMark            = '('
	opStop            = '.'
	opPop             = '0'
	opPopMark         = '1'
	opDup             = '2'
	opFloat           = 'F' // text, as are I, L, S, V, g and p
	opInt             = 'I'
	opLong            = 'L'
	opNone            = 'N'
	opString          = 'S'
	opUnicode         = 'V'
	opGet             = 'g'
	opPut             = 'p'
	opBinInt          = 'J' // 4 bytes, signed
	opBinInt1         = 'K'
	opBinInt2         = 'M'
	opBinFloat        = 'G'
	opBinString       = 'T'
	opShortBinString  = 'U'
	opBinUnicode      = 'X' // 4 bytes of length
	opAppend          = 'a'
	opAppends         = 'e'
	opDict            = 'd'
	opList            = 'l'
	opTuple           = 't'
	opSetItem         = 's'
	opSetItems        = 'u'
	opEmptyTuple      = ')'
	opEmptyList       = ']'
	opEmptyDict       = '}'
	opBinGet          = 'h'
	opLongBinGet      = 'j'
	opBinPut          = 'q'
	opLongBinPut      = 'r'
	opBinBytes        = 'B'
	opShortBinBytes   = 'C'
	opProto           = 0x80
	opTuple1          = 0x85
	opTuple2          = 0x86
	opTuple3          = 0x87
	opNewTrue         = 0x88
	opNewFalse        = 0x89
	opLong1           = 0x8a // 1 byte of length, little endian, signed
	opLong4           = 0x8b
	opShortBinUnicode = 0x8c
	opBinUnicode8     = 0x8d
	opBinBytes8       = 0x8e
	opMemoize         = 0x94
	opFrame           = 0x95
)
